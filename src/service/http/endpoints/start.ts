/** Starts a workflow and waits for its result or not, or only checks the request. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { isOpen, type Status } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { attemptsOf } from '../../model/call.ts'
import type { RunStart, StartCommand } from '../../model/commands.ts'
import { hasErrorName, type ServiceError } from '../../model/errors.ts'
import type { WorkflowResult } from '../../model/execution.ts'
import { DEPRECATION_HEADERS, type Env, jsonResponse, setHeader } from '../context.ts'
import { endpoint, type Tools } from '../endpoint.ts'
import { RUN_EVENTS, type RunEvents, runEvents } from '../events/run-events.ts'
import { formatOf } from '../events/stream-events.ts'
import type { ResponseHeader } from '../openapi/headers.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { pendingPath, resultPath } from '../path.ts'
import { reportReplayed } from '../pipeline/request-checks.ts'
import {
  type AsyncPreference,
  asyncPreference,
  bodyParameter,
  type LastRead,
  lastReadRun,
  OUTPUT_ALONE,
  OUTPUT_HEADERS,
  preferenceApplied,
  prefersEvents,
  resultResponder,
} from '../prefer.ts'
import { BODY_ERRORS, ENGINE_ERRORS, START_ERRORS } from './errors.ts'
import { startCommand, startRequest } from './fields/start-fields.ts'

/** The headers of the responses to a start. */
export const START_HEADERS: readonly ResponseHeader[] = [
  'Idempotency-Replayed',
  'Portico-Started',
  ...DEPRECATION_HEADERS,
]

const DEFAULT_TIMEOUT_MS = 30_000

/**
 * Starts a workflow and waits for its result, or waits for the run whose events the client has read before
 * (`Last-Event-ID`). The response is the result, a stream of events (`Accept`), or with `Prefer: respond-async` a 202
 * if the result takes longer than preferred.
 */
const runEndpoint = endpoint({
  method: 'post',
  path: '/workflow/run',
  id: 'runWorkflow',
  tag: 'Start',
  summary: 'Start a workflow and wait for its result',
  docs: 'api/start.md#run-a-workflow',
  description: OUTPUT_ALONE,
  query: z.strictObject(bodyParameter),
  headers: ['Idempotency-Key', 'traceparent', 'tracestate', 'Prefer', 'Last-Event-ID'],
  body: startRequest,
  responses: {
    200: {
      description: 'The workflow has ended. A failed workflow is a result, not an error of the request',
      schema: schemaOf('WorkflowResult'),
      headers: [
        ...START_HEADERS,
        ...OUTPUT_HEADERS,
        'Location',
        'Portico-Output-Warning',
        'X-Vercel-AI-UI-Message-Stream',
        'X-Workflow-Run-Id',
      ],
      links: ['workflow'],
      events: RUN_EVENTS,
    },
    202: {
      description: 'With `Prefer: respond-async`: the workflow has started and is still running',
      schema: schemaOf('AcceptedRun'),
      headers: [...START_HEADERS, 'Location', 'Preference-Applied', 'Retry-After'],
      links: ['workflow'],
    },
    204: { description: 'The client has received the last event already', headers: START_HEADERS },
  },
  errors: [...START_ERRORS, 'ResultUnreadableError', 'WorkflowExecutionTimedOutError', 'WorkflowFailedError'],
  takes: 'wait',
  key: 'taken',
  verb: 'run',
  async handle(c, tools) {
    const { body, query, defaultCatalog, maxTimeoutMs } = tools
    const given = await body(c)
    // Without `body`, unknown parameters are ignored.
    const respond = resultResponder(c, c.req.query('body') === undefined ? {} : query(c))
    const command = startCommand(c, given, defaultCatalog, 'args')
    const last = lastReadRun(c, command)
    if (last !== null && command.idempotencyKey !== undefined) reportReplayed(c)
    const awaited = { c, tools, command, last }
    const timeoutMs = given.timeout ?? Math.min(DEFAULT_TIMEOUT_MS, maxTimeoutMs)
    if (prefersEvents(c))
      return given.stream === undefined ? eventsOf(awaited, timeoutMs) : withStream(awaited, timeoutMs, given.stream)
    const preference = asyncPreference(c)
    if (preference === null) return respond(await resultOf(awaited, timeoutMs))
    const waitMs = Math.min(preference.waitMs, given.timeout ?? maxTimeoutMs)
    return acceptedOrResult(awaited, { waitMs }, respond)
  },
})

/** The run that a request waits for: the one that it starts, or the one that its client has read before. */
interface AwaitedRun {
  c: Context<Env>
  tools: Pick<Tools, 'workflows' | 'call' | 'commentEveryMs' | 'uiMessages'>
  command: StartCommand
  last: LastRead | null
}

function resultOf(
  { c, tools: { workflows, call }, command, last }: AwaitedRun,
  waitMs: number,
  onFound?: (run: RunRef) => void,
): Promise<WorkflowResult> {
  if (last !== null) {
    const command = { ref: last.run, followsChain: true, waitMs, ...(onFound && { onFound }) }
    return workflows.result(command, call(c))
  }
  const onStarted = (run: RunStart) => {
    reportRun(c, command, run)
    onFound?.(run)
  }
  const isAwaited = onFound !== undefined || mayFindRun(command)
  return workflows.run({ ...command, timeoutMs: waitMs, ...(isAwaited && { onStarted }) }, call(c))
}

function eventsOf(run: AwaitedRun, waitMs: number, follow?: RunEvents['follow']): Promise<Response> {
  const { c, last } = run
  const { workflows, call, commentEveryMs } = run.tools
  const checkRead: RunEvents['checkRead'] = (read) => workflows.checkRead({ ref: read }, call(c))
  return runEvents(c, { last, commentEveryMs, checkRead, follow, wait: (onFound) => resultOf(run, waitMs, onFound) })
}

// A header of the AI SDK. Its readers put the value into the path of the stream, so the value is the workflow id.
const UI_RUN_HEADER = 'X-Workflow-Run-Id'

/** The events of the run, with what the workflow publishes. In the format `ui-message`, only what it publishes. */
async function withStream(
  run: AwaitedRun,
  waitMs: number,
  { topics = [], format: formatName }: { topics?: string[]; format?: 'ui-message' },
): Promise<Response> {
  const { c, command, last, tools } = run
  const { workflows, call, commentEveryMs } = tools
  const format = formatOf(formatName, tools)
  if (format === null) {
    const follow: RunEvents['follow'] = ({ workflowId }, from, signal) =>
      workflows.followStream({ ref: { workflowId }, from, topics, followsChain: true }, { ...call(c), signal })
    return eventsOf(run, waitMs, follow)
  }
  const { workflowId, runId } = last?.run ?? (await startNow(c, tools, { ...command, mayRead: true }))
  const from = { runId, last: null }
  const follow = () => workflows.followStream({ ref: { workflowId }, from, topics, followsChain: true }, call(c))
  return format.respond(c, follow, { commentEveryMs, headers: { [UI_RUN_HEADER]: encodeURIComponent(workflowId) } })
}

/** The body of a 202 about the run of an error that says that it is open. */
export function openState({ details }: ServiceError) {
  const { workflowId = '', runId, workflowStatus = null, problem } = details
  return { workflowId, runId, status: workflowStatus, ...(problem && { problem }) }
}

/** Responds with the result if the run ends within the preferred time, otherwise with a 202. */
async function acceptedOrResult(
  run: AwaitedRun,
  preference: AsyncPreference,
  respond: (result: WorkflowResult) => Response,
): Promise<Response> {
  const { c, command, last } = run
  // A start that is repeated to read its result is one change.
  const call = attemptsOf(run.tools.call(c))
  const tools = { ...run.tools, call }
  if (preference.waitMs === 0 && last === null) {
    const started = await startNow(c, tools, { ...command, mayRead: true })
    // If the request is repeated, the chain may have ended: its result needs no wait.
    if (isOpen(started.status)) return accepted(c, started, preference)
  }
  try {
    return respond(await resultOf({ ...run, tools }, preference.waitMs))
  } catch (error) {
    if (!hasErrorName(error, 'WorkflowExecutionTimedOutError')) throw error
    const state = openState(error)
    return accepted(c, state, preference)
  }
}

function accepted(c: Context<Env>, body: { workflowId: string }, applied: AsyncPreference): Response {
  preferenceApplied(c, applied)
  setHeader(c, 'Location', pendingPath(c, body.workflowId))
  setHeader(c, 'Retry-After', '1')
  return jsonResponse(c, body, 202)
}

const start = endpoint({
  method: 'post',
  path: '/workflow/start',
  id: 'startWorkflow',
  tag: 'Start',
  summary: 'Start a workflow and return its ids',
  docs: 'api/start.md#start-a-workflow',
  headers: ['Idempotency-Key', 'traceparent', 'tracestate'],
  body: startRequest,
  responses: {
    200: {
      description: 'The engine has accepted the workflow',
      schema: schemaOf('StartedRun'),
      headers: [...START_HEADERS, 'Location'],
      links: ['workflow'],
    },
  },
  errors: START_ERRORS,
  takes: 'work',
  key: 'taken',
  verb: 'start',
  async handle(c, tools) {
    const command = startCommand(c, await tools.body(c), tools.defaultCatalog, 'args')
    return jsonResponse(c, await startNow(c, tools, command))
  },
})

const validate = endpoint({
  method: 'post',
  path: '/workflow/validate',
  id: 'validateRequest',
  tag: 'Start',
  summary: 'Check a request for run or start, and start nothing',
  docs: 'api/start.md#validate',
  headers: ['Idempotency-Key'],
  body: startRequest,
  responses: {
    200: {
      description: 'The request is valid',
      schema: schemaOf('Validation'),
      headers: DEPRECATION_HEADERS,
    },
  },
  errors: [
    ...ENGINE_ERRORS,
    ...BODY_ERRORS,
    'UnsupportedWorkflowError',
    'CatalogNotAvailableError',
    'PayloadCodecError',
  ],
  takes: 'work',
  key: 'taken',
  verb: 'validate',
  async handle(c, { body, call, workflows, defaultCatalog }) {
    const command = startCommand(c, await body(c), defaultCatalog, 'args')
    await workflows.validate(command, call(c))
    return jsonResponse(c, { valid: true })
  },
})

export const startEndpoints = [runEndpoint, start, validate]

/** Starts the workflow, and returns the body of the response. */
export async function startNow(
  c: Context<Env>,
  { workflows, call }: Pick<Tools, 'workflows' | 'call'>,
  command: StartCommand,
): Promise<RunRef & { status: Status }> {
  const run = await workflows.start(command, call(c))
  const { workflowId, runId, repeatedStatus: status = 'running' } = run
  reportRun(c, command, run)
  setHeader(c, 'Location', resultPath(c, workflowId))
  return { workflowId, runId, status }
}

/** Whether the response may be about a run that the request did not start. */
export function mayFindRun({ options, idempotencyKey }: StartCommand): boolean {
  return options?.workflowIdConflictPolicy === 'use-existing' || idempotencyKey !== undefined
}

/** Reports the run in headers, not in the body, because a result has exactly the keys of the specification. */
export function reportRun(c: Context<Env>, { options }: StartCommand, { isExisting, repeatedStatus }: RunStart): void {
  if (options?.workflowIdConflictPolicy === 'use-existing')
    setHeader(c, 'Portico-Started', String(isExisting === undefined))
  if (repeatedStatus !== undefined) reportReplayed(c)
}
