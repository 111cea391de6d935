/** What a running workflow publishes: as events, page by page, and publishing from outside. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { ServiceError } from '../../domain/model/errors.ts'
import type { StreamStart } from '../../domain/model/stream.ts'
import { UUID_PATTERN } from '../../protocol/names.ts'
import { parsePosition } from '../../protocol/stream.ts'
import type { Env } from '../context.ts'
import { endpoint, type RequestBody } from '../endpoint.ts'
import { EVENT_STREAM_HEADERS } from '../events.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { prefersJson } from '../prefer.ts'
import { jsonResponse, respond } from '../response.ts'
import { streamResponse } from '../stream-events.ts'
import { UI_MESSAGE_HEADERS, uiMessageResponse } from '../ui-messages.ts'
import { BODY_ERRORS, RUN_ERRORS } from './errors.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { requiredText } from './fields/names.ts'
import { MAX_WAIT_MS, queryDuration, queryInteger } from './fields/query-values.ts'

const MAX_ITEMS = 1000

const signedInteger = z
  .pipe(
    z.string().check(z.regex(/^-?\d{1,9}$/, { message: 'must be an integer of at most 9 digits' })),
    z.transform(Number),
  )
  .register(jsonForms, { type: 'integer', minimum: -999_999_999, maximum: 999_999_999 })

const start = z
  .pipe(
    z.string().check(
      z.refine((text) => toStart(text) !== null, {
        message: 'must be an offset, the id of an item or "now"',
      }),
    ),
    z.transform((text) => toStart(text) ?? 0),
  )
  .register(jsonForms, { pattern: `^(?:now|[0-9]{1,15}|(?:[0-9]{1,15}|-)@${UUID_PATTERN})$` })

const read = endpoint({
  method: 'get',
  path: '/workflow/:id/stream',
  id: 'streamWorkflow',
  tag: 'Inspect',
  summary: 'Get what it publishes while it runs',
  docs: 'stream',
  query: z.strictObject({
    topic: optional(z.array(requiredText), 'Only the items of this topic. Can be repeated. Default: all topics'),
    from: optional(
      start,
      'Where to begin: an offset, the id of an item that was read, `next` of the previous response, or `now`. Default 0',
    ),
    wait: optional(
      queryDuration(MAX_WAIT_MS),
      'Only for JSON: how long to wait for an item: milliseconds, or a duration such as `30s`, at most 60 s. Default: do not wait',
    ),
    format: optional(
      z.literal('ui-message'),
      '`ui-message`: the UI message stream of the AI SDK, for items that are its chunks, or parts of a model',
    ),
    startIndex: optional(
      signedInteger,
      'Only for `ui-message`: the number of chunks that the client has received; if negative, counted from the end. Default 0',
    ),
    limit: optional(queryInteger(1, MAX_ITEMS), `Only for JSON: the maximum number of items. Default ${MAX_ITEMS}`),
  }),
  lists: ['topic'],
  headers: ['Last-Event-ID'],
  responses: {
    200: {
      description: 'The items as events until the run ends or, if `Accept` prefers JSON, those that there are',
      schema: schemaOf('StreamBatch'),
      headers: ['X-Vercel-AI-UI-Message-Stream', 'X-Workflow-Stream-Tail-Index'],
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
    const { topic: topics = [], from = 0, wait, limit, format, startIndex } = query(c)
    const command = { ref, from: lastRead(c) ?? from, topics, followsChain: ref.runId === undefined }
    const asEvents = format !== undefined || !prefersJson(c)
    rejectIf(
      asEvents && (wait ?? limit) !== undefined,
      'wait and limit are only for JSON: send Accept: application/json',
    )
    rejectIf(format === undefined && startIndex !== undefined, 'startIndex is only for format=ui-message')
    // A response to HEAD must not add anything to the run.
    if (c.req.method === 'HEAD') {
      await workflows.status(ref, call(c))
      return respond(c, null, 200, {
        ...(asEvents ? EVENT_STREAM_HEADERS : { 'Content-Type': 'application/json' }),
        ...(format !== undefined && UI_MESSAGE_HEADERS),
      })
    }
    const follow = () => workflows.followStream(command, call(c))
    if (format !== undefined) return uiMessageResponse(c, follow, { startIndex, commentEveryMs })
    if (!asEvents) {
      const batch = { ...command, waitMs: wait ?? 0, maxItems: limit ?? MAX_ITEMS }
      return jsonResponse(c, await workflows.readStream(batch, call(c)))
    }
    const feed = await follow()
    // 204 ends the reconnecting of an EventSource.
    if (feed === null) return respond(c, null, 204, {})
    return streamResponse(c, feed, commentEveryMs)
  },
})

const item = z.strictObject({ topic: requiredText, data: z.unknown() })

// The check of `publishRequest`, as JSON Schema.
const EITHER = {
  if: { required: ['items'] },
  else: { required: ['topic', 'data'] },
  not: { anyOf: [{ required: ['items', 'topic'] }, { required: ['items', 'data'] }] },
}

const publishRequest = {
  name: 'PublishRequest',
  schema: z.pipe(
    z
      .strictObject({
        topic: optional(requiredText, 'The topic of the item'),
        data: optional(z.unknown(), 'The item: any JSON'),
        items: optional(
          z.array(item).check(z.minLength(1), z.maxLength(MAX_ITEMS)),
          'Instead of `topic` and `data`: several items, each with both',
        ),
      })
      .check(
        z.refine(
          (body) => ('items' in body ? !('topic' in body || 'data' in body) : 'topic' in body && 'data' in body),
          { message: 'must contain either topic and data, or items' },
        ),
      )
      .register(jsonForms, EITHER),
    z.transform(({ topic = '', data = null, items }) => ({
      items: (items ?? [{ topic, data }]).map((each) => ({ topic: each.topic, data: each.data })),
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

function rejectIf(isInvalid: boolean, message: string): void {
  if (isInvalid) throw new ServiceError('ValidationError', message)
}

function toStart(text: string): StreamStart | null {
  if (text === 'now') return 'now'
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const position = parsePosition(text)
  return position?.isEnd ? null : position
}

/** The position of the last event that the client has received; null without one. */
function lastRead(c: Context<Env>): StreamStart | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const position = parsePosition(id)
  if (position !== null) return position
  throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event of this stream')
}
