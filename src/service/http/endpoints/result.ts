/** The result of a run: now, as soon as there is one, or as events. */
import * as z from 'zod/mini'
import type { ResultCommand } from '../../model/commands.ts'
import { hasErrorName, type ServiceError } from '../../model/errors.ts'
import { jsonResponse, setHeader } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { RUN_EVENTS, type RunEvents, runEvents } from '../events/run-events.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { pendingQuery, requestPath } from '../path.ts'
import { bodyParameter, lastReadRun, OUTPUT_ALONE, OUTPUT_HEADERS, prefersEvents, resultResponder } from '../prefer.ts'
import { RUN_ERRORS } from './errors.ts'
import { optional } from './fields/json-forms.ts'
import { queryDuration } from './fields/query-values.ts'
import { openState } from './start.ts'

const DEFAULT_STREAM_MS = 300_000

/** Not a wait that the end of the credential has ended: the client needs a new one. */
function isOpenRun(error: unknown): error is ServiceError {
  return (
    hasErrorName(error, 'WorkflowNotCompletedError') ||
    (hasErrorName(error, 'WorkflowExecutionTimedOutError') && error.details.retryAfterSeconds !== undefined)
  )
}

export const resultEndpoint = endpoint({
  method: 'get',
  path: '/workflow/:id/result',
  id: 'getWorkflowResult',
  tag: 'Inspect',
  summary: 'Get its result, or wait for it',
  docs: 'api/result.md#result',
  description: OUTPUT_ALONE,
  query: (maxTimeoutMs) =>
    z.strictObject({
      wait: optional(
        queryDuration(maxTimeoutMs),
        'How long to wait for the end of the run: milliseconds, or a duration such as `30s`. Default: do not wait; as an event stream 5 minutes',
      ),
      pending: optional(
        z.literal('202', { error: 'must be 202' }),
        '`202`: while the run is open, respond with 202 instead of 424, for clients that poll until the status is another one',
      ),
      ...bodyParameter,
    }),
  headers: ['Last-Event-ID'],
  responses: {
    200: {
      description: 'The result of the closed run, or the events about it',
      schema: schemaOf('WorkflowResult'),
      headers: [...OUTPUT_HEADERS, 'Portico-Output-Warning'],
      events: RUN_EVENTS,
    },
    202: {
      description: 'With `pending=202`: the run is open',
      schema: schemaOf('AcceptedRun'),
      headers: ['Location', 'Retry-After'],
    },
    204: { description: 'The client has received the last event already' },
  },
  errors: [...RUN_ERRORS, 'WorkflowExecutionTimedOutError', 'WorkflowNotCompletedError', 'WorkflowFailedError'],
  takes: 'wait',
  key: 'ignored',
  verb: 'result',
  async handle(c, { ref: readPath, query, call, workflows, maxTimeoutMs, commentEveryMs }) {
    const commandWith = (waitMs: number | null): ResultCommand => {
      const ref = readPath(c)
      return { ref, followsChain: ref.runId === undefined, waitMs }
    }
    if (prefersEvents(c)) {
      const { wait: waitMs = Math.min(DEFAULT_STREAM_MS, maxTimeoutMs), pending: _, ...given } = query(c)
      resultResponder(c, given)
      const command = commandWith(waitMs)
      const last = lastReadRun(c, command.ref)
      const ref = last?.run ?? command.ref
      const wait: RunEvents['wait'] = (onFound) => workflows.result({ ...command, ref, onFound }, call(c))
      return runEvents(c, { last, commentEveryMs, checkRead: (ref) => workflows.checkRead({ ref }, call(c)), wait })
    }
    // Without `wait`, `pending` and `body`, unknown parameters are ignored.
    const isPlain = ['wait', 'pending', 'body'].every((name) => c.req.query(name) === undefined)
    const { wait: waitMs = null, pending, ...given } = isPlain ? {} : query(c)
    const respond = resultResponder(c, given)
    const command = commandWith(waitMs)
    const ref = (waitMs === null ? null : lastReadRun(c, command.ref)?.run) ?? command.ref
    try {
      return respond(await workflows.result({ ...command, ref }, call(c)))
    } catch (error) {
      if (pending === undefined || !isOpenRun(error)) throw error
      setHeader(c, 'Location', requestPath(c) + pendingQuery(c))
      setHeader(c, 'Retry-After', '1')
      return jsonResponse(c, openState(error), 202)
    }
  },
})
