/** What a running workflow publishes: as events, page by page, and publishing from outside. */
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod/mini'
import { ServiceError } from '../../domain/model/errors.ts'
import type { StreamEvent, StreamFeed, StreamItem, StreamStart } from '../../domain/model/stream.ts'
import { parsePosition, positionId } from '../../protocol/stream.ts'
import type { Env } from '../context.ts'
import { endpoint, type RequestBody } from '../endpoint.ts'
import { isTransient, problemBody } from '../errors.ts'
import { EVENT_STREAM_HEADERS, eventFrame, eventStream } from '../events.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse, respond } from '../response.ts'
import { BODY_ERRORS, RUN_ERRORS } from './errors.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { MAX_WAIT_MS, queryDuration, queryInteger } from './fields/query-values.ts'

const MAX_ITEMS = 1000

const topicName = z.string().check(z.minLength(1, { message: 'must not be empty' }))

const start = z
  .pipe(
    z.string().check(
      z.refine((text) => toStart(text) !== null, {
        message: 'must be an offset, the id of an item or "now"',
      }),
    ),
    z.transform((text) => toStart(text) ?? 0),
  )
  .register(jsonForms, { pattern: '^(?:now|[0-9]{1,15}|(?:[0-9]{1,15}|-)@[0-9A-Fa-f-]{36})$' })

const read = endpoint({
  method: 'get',
  path: '/workflow/:id/stream',
  id: 'streamWorkflow',
  tag: 'Inspect',
  summary: 'Get what it publishes while it runs',
  docs: 'stream',
  query: z.strictObject({
    topic: optional(z.array(topicName), 'Only the items of this topic. Can be repeated. Default: all topics'),
    from: optional(
      start,
      'Where to begin: an offset, the id of an item that was read, `next` of the previous response, or `now`. Default 0',
    ),
    wait: optional(
      queryDuration(MAX_WAIT_MS),
      'Only for JSON: how long to wait for an item: milliseconds, or a duration such as `30s`, at most 60 s. Default: do not wait',
    ),
    limit: optional(queryInteger(1, MAX_ITEMS), `Only for JSON: the maximum number of items. Default ${MAX_ITEMS}`),
  }),
  lists: ['topic'],
  headers: ['Last-Event-ID'],
  responses: {
    200: {
      description: 'The items as events until the run ends or, if `Accept` prefers JSON, those that there are',
      schema: schemaOf('StreamBatch'),
      events: {
        workflow: schemaOf('StreamRun'),
        item: schemaOf('StreamItem'),
        truncated: schemaOf('TruncatedItems'),
        continued: schemaOf('ContinuedRun'),
        done: schemaOf('StreamEnd'),
        server_error: schemaOf('ProblemDetails'),
      },
    },
    204: { description: 'The client has received the last event already' },
  },
  errors: [...RUN_ERRORS, 'StreamNotFoundError', 'UpdateFailedError', 'WorkflowNotReadyError', 'DeadlineExceededError'],
  takes: 'wait',
  key: 'ignored',
  access: 'read',
  async handle(c, { ref: readPath, query, call, workflows, commentEveryMs }) {
    const ref = readPath(c)
    const { topic: topics = [], from = 0, wait, limit } = query(c)
    const command = { ref, from: lastRead(c) ?? from, topics, followsChain: ref.runId === undefined }
    const asEvents = prefersEvents(c)
    if (asEvents && (wait !== undefined || limit !== undefined))
      throw new ServiceError('ValidationError', 'wait and limit are only for JSON: send Accept: application/json')
    // A response to HEAD must not add anything to the run.
    if (c.req.method === 'HEAD') {
      await workflows.status(ref, call(c))
      return respond(c, null, 200, asEvents ? EVENT_STREAM_HEADERS : { 'Content-Type': 'application/json' })
    }
    if (!asEvents) {
      const batch = { ...command, waitMs: wait ?? 0, maxItems: limit ?? MAX_ITEMS }
      return jsonResponse(c, await workflows.readStream(batch, call(c)))
    }
    const feed = await workflows.followStream(command, call(c))
    // 204 ends the reconnecting of an EventSource.
    if (feed === null) return respond(c, null, 204, {})
    return streamResponse(c, feed, commentEveryMs)
  },
})

const item = z.strictObject({ topic: topicName, data: z.unknown() })

const publishRequest = {
  name: 'PublishRequest',
  schema: z.pipe(
    z.union([z.strictObject({ items: z.array(item).check(z.minLength(1), z.maxLength(MAX_ITEMS)) }), item], {
      error: 'must be {"topic": …, "data": …} or {"items": […]} with 1 to 1000 of them',
    }),
    z.transform((body) => ({
      items: ('items' in body ? body.items : [body]).map(({ topic, data = null }) => ({ topic, data })),
    })),
  ),
  isRequired: true,
} satisfies RequestBody<unknown>

const publish = endpoint({
  method: 'post',
  path: '/workflow/:id/stream',
  id: 'publishToWorkflow',
  tag: 'Messages',
  summary: 'Publish items in its stream',
  docs: 'publish',
  headers: ['Idempotency-Key'],
  body: publishRequest,
  responses: {
    202: { description: 'The run has received the items', schema: schemaOf('RunIds'), links: ['workflow'] },
  },
  errors: [
    ...RUN_ERRORS,
    ...BODY_ERRORS,
    'StreamNotFoundError',
    'WorkflowNotRunningError',
    'WorkflowNotReadyError',
    'DeadlineExceededError',
  ],
  takes: 'work',
  key: 'taken',
  access: 'signal',
  async handle(c, { ref, body, call, workflows }) {
    const run = ref(c)
    const { items } = await body(c)
    return jsonResponse(c, await workflows.publish({ ref: run, items, ...idempotencyKey(c) }, call(c)), 202)
  },
})

export const streamEndpoints = [read, publish]

function toStart(text: string): StreamStart | null {
  if (text === 'now') return 'now'
  return /^\d{1,15}$/.test(text) ? Number(text) : parsePosition(text)
}

/** The position of the last event that the client has received; null without one. */
function lastRead(c: Context<Env>): StreamStart | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const position = parsePosition(id)
  if (position !== null) return position
  throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event of this stream')
}

function prefersEvents(c: Context<Env>): boolean {
  const supports = ['text/event-stream', 'application/json']
  return accepts(c, { header: 'Accept', supports, default: 'text/event-stream' }) === 'text/event-stream'
}

function streamResponse(c: Context<Env>, { events }: StreamFeed, commentEveryMs: number): Response {
  // The position that was reached, and the one that the client knows.
  let [reached, known] = ['', '']

  /** Moves a reader whose topics had no item for a while: an event with an id alone is not dispatched. */
  function comment(): string {
    if (reached === known) return ': still running\n\n'
    known = reached
    return `id: ${reached}\n\n`
  }

  function serverError(error: unknown): string {
    if (!(error instanceof Error)) throw error
    c.error = error
    const body = problemBody(c, error)
    const last = parsePosition(reached)
    const id = isTransient(body) || last === null ? reached : positionId({ ...last, isEnd: true })
    return eventFrame('server_error', body, id || undefined)
  }

  async function* frames(): AsyncGenerator<string | Uint8Array> {
    try {
      for await (const event of events) {
        const { frame, position, lastId } = toFrame(event)
        reached = position ?? reached
        known = lastId ?? known
        if (frame !== undefined) yield frame
      }
    } catch (error) {
      yield serverError(error)
    }
  }

  return eventStream(c, frames(), { commentEveryMs, comment })
}

interface Frame {
  /** Absent for an event that only moves the reader. */
  frame?: string | Uint8Array
  /** The id of the position after the event; absent if that is the same. */
  position?: string
  /** The last id in the frame. */
  lastId?: string
}

function toFrame(event: StreamEvent): Frame {
  switch (event.type) {
    case 'workflow':
      return { frame: eventFrame('workflow', event.workflow), ...positionAt(event.workflow.from, event.workflow.runId) }
    case 'trouble':
      return { frame: eventFrame('workflow', event.workflow) }
    case 'items': {
      const last = event.items.at(-1)
      const moved = positionAt(event.next, event.runId)
      return last === undefined
        ? moved
        : { ...moved, frame: itemsFrame(event.runId, event.items), lastId: idOf(last, event.runId) }
    }
    case 'truncated':
      return {
        frame: eventFrame('truncated', { from: event.from, to: event.to }),
        ...positionAt(event.to, event.runId),
      }
    case 'continued':
      return {
        frame: eventFrame('continued', event.continued),
        ...positionAt(event.from, event.continued.runId),
      }
    case 'done': {
      const { runId, next } = event.done
      const lastId = positionId({ next, runId, isEnd: true })
      return { frame: eventFrame('done', event.done, lastId), position: lastId, lastId }
    }
    default:
      return positionAt(event.next, event.runId)
  }
}

function positionAt(next: number | 'now', runId: string): Pick<Frame, 'position'> {
  return next === 'now' ? {} : { position: positionId({ next, runId, isEnd: false }) }
}

function idOf({ offset }: StreamItem, runId: string): string {
  return positionId({ next: offset + 1, runId, isEnd: false })
}

const encoder = new TextEncoder()

// Readers of one run share the arrays of items, so each is encoded once.
const encoded = new WeakMap<readonly StreamItem[], Uint8Array>()

function itemsFrame(runId: string, items: readonly StreamItem[]): Uint8Array {
  const known = encoded.get(items)
  if (known !== undefined) return known
  const text = items.map((each) => eventFrame('item', each, idOf(each, runId))).join('')
  const frame = encoder.encode(text)
  encoded.set(items, frame)
  return frame
}
