/** The events of a run: page by page, or as a stream. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { ServiceError } from '../../domain/model/errors.ts'
import type { ExecutionRef } from '../../domain/model/execution.ts'
import type { HistoryFeed } from '../../domain/model/history-page.ts'
import { UUID_PATTERN } from '../../protocol/names.ts'
import type { Env } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { problemBody } from '../errors.ts'
import { EVENT_STREAM_HEADERS, eventFrame, eventStream } from '../events.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse, respond } from '../response.ts'
import { RUN_ERRORS } from './errors.ts'
import { optional } from './fields/json-forms.ts'
import { DEFAULT_PAGE_SIZE, MAX_WAIT_MS, pageParameters, queryDuration, queryFlag } from './fields/query-values.ts'

const includePayloads = optional(
  queryFlag,
  'False leaves out arguments, results, memos, headers and search attributes. Default true',
)

const page = endpoint({
  method: 'get',
  path: '/workflow/:id/history',
  id: 'getWorkflowHistory',
  tag: 'Inspect',
  summary: 'Get the events of a run, and wait for new ones',
  docs: 'history',
  query: z.strictObject({
    ...pageParameters,
    wait: optional(
      queryDuration(MAX_WAIT_MS),
      'How long to wait for the next event of an open run: milliseconds, or a duration such as `30s`, at most 60 s. Default: do not wait',
    ),
    includePayloads,
  }),
  responses: { 200: { description: 'A page of events', schema: schemaOf('HistoryPage'), links: ['nextEvents'] } },
  errors: [...RUN_ERRORS, 'InvalidPageTokenError'],
  takes: 'wait',
  key: 'ignored',
  access: 'read',
  async handle(c, { ref, query, call, workflows }) {
    const run = ref(c)
    const { pageSize = DEFAULT_PAGE_SIZE, pageToken = null, wait = 0, includePayloads = true } = query(c)
    const command = { ref: run, pageSize, pageToken, waitMs: wait, includePayloads }
    return jsonResponse(c, await workflows.history(command, call(c)))
  },
})

const stream = endpoint({
  method: 'get',
  path: '/workflow/:id/history/stream',
  id: 'streamWorkflowHistory',
  tag: 'Inspect',
  summary: 'Get the events of a run as they are recorded',
  docs: 'history-stream',
  query: z.strictObject({ includePayloads }),
  headers: ['Last-Event-ID'],
  responses: {
    200: {
      description: 'The events, until the run closes',
      events: {
        workflow: schemaOf('HistoryRun'),
        history: schemaOf('HistoryEvent'),
        done: schemaOf('HistoryRun'),
        server_error: schemaOf('ProblemDetails'),
      },
    },
    204: { description: 'The run is closed, and the client has received its last event already' },
  },
  errors: RUN_ERRORS,
  takes: 'wait',
  key: 'ignored',
  access: 'read',
  async handle(c, { ref: readPath, query, call, workflows, commentEveryMs }) {
    const path = readPath(c)
    const { includePayloads = true } = query(c)
    const { ref, after } = lastEvent(c, path)
    const feed = await workflows.followHistory({ ref, after, includePayloads }, call(c))
    // 204 ends the reconnecting of an EventSource.
    if (feed === null) return respond(c, null, 204, {})
    // If the path has no run id, the event ids have it: when the client reconnects, the path may name another run.
    const suffix = path.runId === undefined ? `@${feed.workflow.runId}` : ''
    if (c.req.method === 'HEAD') return respond(c, null, 200, EVENT_STREAM_HEADERS)
    return eventStream(c, feedFrames(c, feed, suffix), { commentEveryMs })
  },
})

export const historyEndpoints = [page, stream]

const EVENT_ID = new RegExp(`^(\\d{1,15})(?:@(${UUID_PATTERN}))?$`)

/** The last event that the client has received, and the run that it belongs to. */
function lastEvent(c: Context<Env>, path: ExecutionRef): { ref: ExecutionRef; after: number } {
  const [, after, runId = path.runId] = EVENT_ID.exec(c.req.header('Last-Event-ID') || '0') ?? []
  const ref = runId === undefined ? path : { ...path, runId: runId.toLowerCase() }
  if (after !== undefined && (path.runId ?? ref.runId) === ref.runId) return { ref, after: Number(after) }
  throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event of this run')
}

async function* feedFrames(
  c: Context<Env>,
  { workflow, pages }: HistoryFeed,
  idSuffix: string,
): AsyncGenerator<string> {
  try {
    yield eventFrame('workflow', workflow)
    for await (const { events, closed } of pages) {
      for (const event of events) yield eventFrame('history', event, `${event.eventId}${idSuffix}`)
      if (closed !== null) yield eventFrame('done', closed)
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    c.error = error
    yield eventFrame('server_error', problemBody(c, error))
  }
}
