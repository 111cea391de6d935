/** Responses with a result, or with its output alone (`?body=output`). */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { ServiceError } from '../domain/model/errors.ts'
import type { WorkflowResult } from '../domain/model/execution.ts'
import type { Status } from '../protocol/execution.ts'
import type { Env } from './context.ts'
import { prefersEvents } from './events.ts'
import { jsonResponse } from './json-response.ts'
import { queryParameters } from './query-parameters.ts'
import { setHeader } from './response.ts'

const OUTPUT = z.literal('output', { error: 'must be output' })

/** The query parameter, for the schema of a route's parameters. */
export const bodyParameter = { body: z.exactOptional(OUTPUT) }

const ALONE = z.strictObject(bodyParameter)

/** The parameter of a request that has no other. Without it, others have always been ignored. */
export function readBodyParameter(c: Context<Env>): { body?: 'output' } {
  return c.req.query('body') === undefined ? {} : queryParameters(c, ALONE)
}

/**
 * Responds with the result, or with its output alone if the query says so. Call it before anything starts: it rejects a
 * request that cannot be answered in that way.
 */
export function resultResponder(c: Context<Env>, { body }: { body?: 'output' }): (result: WorkflowResult) => Response {
  if (body === undefined) return (result) => jsonResponse(c, result)
  if (prefersEvents(c)) {
    const message = 'must not be combined with an event stream'
    throw new ServiceError('ValidationError', `/body ${message}`, { details: { issues: [{ path: '/body', message }] } })
  }
  return (result) => outputResponse(c, result)
}

function outputResponse(c: Context<Env>, result: WorkflowResult): Response {
  const { workflowId, runId, status, output } = result
  if (status !== 'completed') throw failed(result)
  // Encoded as in a path: an id may have characters that a header cannot have.
  setHeader(c, 'Portico-Workflow-Id', encodeURIComponent(workflowId))
  setHeader(c, 'Portico-Run-Id', runId)
  return jsonResponse(c, output)
}

const ENDS = new Map<Status, string>([
  ['failed', 'failed'],
  ['canceled', 'was canceled'],
  ['terminated', 'was terminated'],
  ['timed_out', 'timed out'],
  ['continued', 'continued as a new run'],
])

function failed({ workflowId, runId, status, error, errorDetails }: WorkflowResult): ServiceError {
  const reason = error === null || error === '' ? '' : `: ${error}`
  return new ServiceError('WorkflowFailedError', `Workflow ${workflowId} ${ENDS.get(status) ?? status}${reason}`, {
    details: { workflowId, runId, workflowStatus: status, ...(errorDetails && { errorDetails }) },
  })
}
