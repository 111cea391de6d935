/** The result of a run: now, as soon as there is one, or as events. */
import * as z from 'zod/mini'
import type { ResultCommand } from '../../domain/model/workflows.ts'
import { endpoint } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { bodyParameter, OUTPUT_ALONE, OUTPUT_HEADERS, prefersEvents, resultResponder } from '../prefer.ts'
import { lastReadRun, RUN_EVENTS, type RunEvents, runEvents } from '../run-events.ts'
import { RUN_ERRORS } from './errors.ts'
import { optional } from './fields/json-forms.ts'
import { queryDuration } from './fields/query-values.ts'

const DEFAULT_STREAM_MS = 300_000

export const resultEndpoint = endpoint({
  method: 'get',
  path: '/workflow/:id/result',
  id: 'getWorkflowResult',
  tag: 'Inspect',
  summary: 'Get its result, or wait for it',
  docs: 'result',
  description: OUTPUT_ALONE,
  query: (maxTimeoutMs) =>
    z.strictObject({
      wait: optional(
        queryDuration(maxTimeoutMs),
        'How long to wait for the end of the run: milliseconds, or a duration such as `30s`. Default: do not wait; as an event stream 5 minutes',
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
    204: { description: 'The client has received the last event already' },
  },
  errors: [...RUN_ERRORS, 'WorkflowExecutionTimedOutError', 'WorkflowNotCompletedError', 'WorkflowFailedError'],
  takes: 'wait',
  key: 'ignored',
  access: 'read',
  async handle(c, { ref: readPath, query, call, workflows, maxTimeoutMs, commentEveryMs }) {
    const commandWith = (waitMs: number | null): ResultCommand => {
      const ref = readPath(c)
      return { ref, followsChain: ref.runId === undefined, waitMs }
    }
    if (prefersEvents(c)) {
      const { wait: waitMs = Math.min(DEFAULT_STREAM_MS, maxTimeoutMs), ...given } = query(c)
      resultResponder(c, given)
      const command = commandWith(waitMs)
      const last = lastReadRun(c, command.ref)
      const ref = last?.run ?? command.ref
      const wait: RunEvents['wait'] = (onFound) => workflows.result({ ...command, ref, onFound }, call(c))
      return runEvents(c, { last, commentEveryMs, checkRead: (run) => workflows.checkRead(run, call(c)), wait })
    }
    // Without `wait` and `body`, unknown parameters are ignored.
    const isPlain = c.req.query('wait') === undefined && c.req.query('body') === undefined
    const { wait: waitMs = null, ...given } = isPlain ? {} : query(c)
    const respond = resultResponder(c, given)
    const command = commandWith(waitMs)
    const ref = (waitMs === null ? null : lastReadRun(c, command.ref)?.run) ?? command.ref
    return respond(await workflows.result({ ...command, ref }, call(c)))
  },
})
