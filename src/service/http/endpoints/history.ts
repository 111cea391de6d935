/** The events of a run, page by page or as a stream, and the stream of its trace. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { isOf, parsePosition, positionId } from '../../../shared/wire/position.ts'
import type { TraceEntry } from '../../../shared/wire/trace/entry.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import type { HistoryFeed, HistoryFeedPage } from '../../model/history-page.ts'
import { type Env, jsonResponse, respond } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { EVENT_STREAM_HEADERS, eventFrame, eventStream } from '../events/events.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
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
  docs: 'api/history.md#history',
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
  verb: 'history',
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
  docs: 'api/history.md#history-stream',
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
  verb: 'followHistory',
  async handle(c, { ref, query, call, workflows, commentEveryMs }) {
    const { includePayloads = true } = query(c)
    const command = { ...lastEvent(c, ref(c)), includePayloads }
    const feed = await workflows.followHistory(command, call(c))
    return feedResponse(c, feed, eventFrames, commentEveryMs)
  },
})

const traceStream = endpoint({
  method: 'get',
  path: '/workflow/:id/trace-log/stream',
  id: 'streamWorkflowTrace',
  tag: 'Inspect',
  summary: 'Get the trace of a run as it is recorded',
  docs: 'api/history.md#trace-stream',
  headers: ['Last-Event-ID'],
  responses: {
    200: {
      description: 'The entries, until the run closes',
      events: {
        workflow: schemaOf('HistoryRun'),
        trace: schemaOf('TraceEntry'),
        done: schemaOf('HistoryRun'),
        server_error: schemaOf('ProblemDetails'),
      },
    },
    204: { description: 'The run is closed, and the client has received its last event already' },
  },
  errors: RUN_ERRORS,
  takes: 'wait',
  key: 'ignored',
  verb: 'followTrace',
  async handle(c, { ref, call, workflows, commentEveryMs }) {
    const command = lastEvent(c, ref(c))
    const feed = await workflows.followTrace(command, call(c))
    return feedResponse(c, feed, entryFrames, commentEveryMs)
  },
})

export const historyEndpoints = [page, stream, traceStream]

function feedResponse<Event>(
  c: Context<Env>,
  feed: HistoryFeed<Event> | null,
  framesOf: (page: HistoryFeedPage<Event>, runId: string) => Iterable<string>,
  commentEveryMs: number,
): Response {
  // 204 ends the reconnecting of an EventSource.
  if (feed === null) return respond(c, null, 204, {})
  if (c.req.method === 'HEAD') return respond(c, null, 200, EVENT_STREAM_HEADERS)
  return eventStream(c, feedFrames(feed, framesOf), {
    commentEveryMs,
    onError: (body) => eventFrame('server_error', body),
  })
}

/** The last event that the client has received, and the run that it belongs to: the path may name another one now. */
function lastEvent(c: Context<Env>, path: ExecutionRef): { ref: ExecutionRef; after: number } {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return { ref: path, after: 0 }
  const position = parsePosition(id)
  if (position === null || position.last === 'end' || !isOf(position, path))
    throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event of this run')
  return { ref: { ...path, runId: position.runId }, after: position.last ?? 0 }
}

async function* feedFrames<Event>(
  { workflow, pages }: HistoryFeed<Event>,
  framesOf: (page: HistoryFeedPage<Event>, runId: string) => Iterable<string>,
): AsyncGenerator<string> {
  yield eventFrame('workflow', workflow)
  for await (const page of pages) {
    yield* framesOf(page, workflow.runId)
    if (page.closed !== null) yield eventFrame('done', page.closed)
  }
}

function eventFrames({ events }: HistoryFeedPage, runId: string): string[] {
  return events.map((event) => eventFrame('history', event, positionId({ runId, last: event.eventId })))
}

/** Only the last entry of a page has an id: a client that has lost the connection before it gets all of them again. */
function entryFrames({ events, last }: HistoryFeedPage<TraceEntry>, runId: string): string[] {
  return events.map((entry, at) =>
    eventFrame('trace', entry, at === events.length - 1 ? positionId({ runId, last }) : undefined),
  )
}
