/**
 * How a client chooses the form of a response: `Accept`, `Prefer`, and `?body=output`; and where it continues:
 * `Last-Event-ID`.
 */
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod/mini'
import type { Status } from '../../shared/wire/execution.ts'
import { workflowIdIssue } from '../../shared/wire/names.ts'
import { isOf, type Position, parsePosition } from '../../shared/wire/position.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { invalidValue, ServiceError } from '../model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../model/execution.ts'
import type { ActivityResult } from '../model/standalone-activity.ts'
import { type Env, jsonResponse, setHeader } from './context.ts'
import { jsonForms } from './endpoints/fields/json-forms.ts'
import type { ResponseHeader } from './openapi/headers.ts'

const EVENTS = 'text/event-stream'
const JSON_TYPE = 'application/json'

/** Whether the `Accept` header prefers events to JSON. The response to HEAD never has events. */
export function prefersEvents(c: Context): boolean {
  const supports = [JSON_TYPE, EVENTS]
  return c.req.method !== 'HEAD' && accepts(c, { header: 'Accept', supports, default: JSON_TYPE }) === EVENTS
}

/** Whether `Accept` prefers JSON to events. Events are the default, for any type (`*`) and without the header, too. */
export function prefersJson(c: Context): boolean {
  return accepts(c, { header: 'Accept', supports: [EVENTS, JSON_TYPE], default: EVENTS }) === JSON_TYPE
}

export interface AsyncPreference {
  /** How long to wait for the result before the 202; 0: do not wait. */
  waitMs: number
}

/**
 * Null unless the header `Prefer` contains `respond-async`. Unknown and malformed preferences are ignored, as the RFC
 * demands: https://www.rfc-editor.org/rfc/rfc7240
 */
export function asyncPreference(c: Context): AsyncPreference | null {
  const preferences = parse(c.req.header('Prefer') ?? '')
  if (!preferences.has('respond-async')) return null
  const wait = preferences.get('wait') ?? ''
  return { waitMs: /^\d{1,9}$/.test(wait) ? Number(wait) * 1000 : 0 }
}

/** Adds `Preference-Applied`. It has `wait` only for whole seconds: any other time is not the client's `wait`. */
export function preferenceApplied(c: Context<Env>, { waitMs }: AsyncPreference): void {
  const waitSeconds = waitMs / 1000
  const wait = waitSeconds > 0 && Number.isInteger(waitSeconds) ? `, wait=${waitSeconds}` : ''
  setHeader(c, 'Preference-Applied', `respond-async${wait}`)
}

/** Preferences by their names in lower case. Of two with the same name the first one counts. */
function parse(header: string): Map<string, string> {
  // Commas inside quoted strings are not separators.
  const elements = header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []
  const pairs = elements.flatMap((element): [string, string][] => {
    const [, name, value = ''] = /^\s*([^\s=;]+)(?:\s*=\s*"?([^\s";]*))?/.exec(element) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), value]]
  })
  return new Map(pairs.reverse())
}

export interface LastRead extends Pick<Position, 'last'> {
  run: RunRef
}

/**
 * The run that `Last-Event-ID` names; null without it.
 * Throws `WorkflowNotFoundError` if that is not a run of `expected`.
 */
export function lastReadRun(c: Context, expected: Partial<ExecutionRef>): LastRead | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const position = parsePosition(id)
  const { workflowId = expected.workflowId ?? '', runId = '', last = null } = position ?? {}
  if (position !== null && isOf(position, expected) && workflowIdIssue(workflowId) === null)
    return { run: { workflowId, runId }, last }
  throw new ServiceError('WorkflowNotFoundError', 'Last-Event-ID does not name a run of this request', {
    details: { source: 'gateway' },
  })
}

const OUTPUT = z.literal('output', { error: 'must be output' })

/**
 * The query parameter. It is hidden from the document, because responses in generated clients would otherwise have no
 * type.
 */
export const bodyParameter = { body: z.exactOptional(OUTPUT).register(jsonForms, { hidden: true }) }

export const OUTPUT_ALONE =
  'For tools that can only read a status and a body: `?body=output` makes the output the whole body of the 200, and any other end of the workflow a 422 `WorkflowFailedError`. It is not a parameter of this operation, whose response would have no type then'

export const OUTPUT_HEADERS: readonly ResponseHeader[] = ['Portico-Workflow-Id', 'Portico-Run-Id']

/**
 * Responds with the result, or with its output alone (`?body=output`). Call it before anything starts, because it
 * rejects requests that cannot be combined with `body`.
 */
export function resultResponder(c: Context<Env>, { body }: { body?: 'output' }): (result: Result) => Response {
  if (body === undefined) return (result) => jsonResponse(c, result)
  if (prefersEvents(c)) throw invalidValue('/body', 'must not be combined with an event stream')
  return (result) => outputResponse(c, result)
}

type Result = ActivityResult | WorkflowResult

function outputResponse(c: Context<Env>, result: Result): Response {
  const { runId, status, output } = result
  if (status !== 'completed') throw failed(result)
  const [name, id] =
    'activityId' in result ? ['Portico-Activity-Id', result.activityId] : ['Portico-Workflow-Id', result.workflowId]
  // Percent-encoded, because an id may have characters that a header cannot have.
  setHeader(c, name, encodeURIComponent(id))
  setHeader(c, 'Portico-Run-Id', runId)
  return jsonResponse(c, output)
}

/** How a run has ended, as the predicate of a sentence. */
export const ENDS = new Map<Status, string>([
  ['failed', 'failed'],
  ['canceled', 'was canceled'],
  ['terminated', 'was terminated'],
  ['timed_out', 'timed out'],
  ['continued', 'continued as a new run'],
])

function failed(result: Result): ServiceError {
  const { runId, status, error, errorDetails } = result
  const reason = error === null || error === '' ? '' : `: ${error}`
  if ('activityId' in result) {
    const { activityId } = result
    return new ServiceError('ActivityFailedError', `Activity ${activityId} ${ENDS.get(status) ?? status}${reason}`, {
      details: { activityId, runId, activityStatus: status, ...(errorDetails && { errorDetails }) },
    })
  }
  const { workflowId } = result
  return new ServiceError('WorkflowFailedError', `Workflow ${workflowId} ${ENDS.get(status) ?? status}${reason}`, {
    details: { workflowId, runId, workflowStatus: status, ...(errorDetails && { errorDetails }) },
  })
}
