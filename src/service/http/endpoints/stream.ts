/** What a running workflow publishes: as events, page by page, and publishing from outside. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { parsePosition } from '../../../shared/wire/position.ts'
import { UUID_PATTERN } from '../../../shared/wire/run-ref.ts'
import { ServiceError } from '../../model/errors.ts'
import type { StreamStart } from '../../model/stream.ts'
import { type Env, jsonResponse, respond } from '../context.ts'
import { endpoint, endpointOf, type RequestBody } from '../endpoint.ts'
import { EVENT_STREAM_HEADERS } from '../events/events.ts'
import { formatOf, streamResponse } from '../events/stream-events.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { prefersJson } from '../prefer.ts'
import { BODY_ERRORS, EFFECT_ERRORS, RUN_ERRORS } from './errors.ts'
import { isEmptyList } from './fields/field-values.ts'
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
  .register(jsonForms, { pattern: `^(?:now|[0-9]{1,15}|${UUID_PATTERN}(?:@[0-9]{1,15})?)$` })

const read = endpoint({
  method: 'get',
  path: '/workflow/:id/stream',
  id: 'streamWorkflow',
  tag: 'Inspect',
  summary: 'Get what it publishes while it runs',
  docs: 'api/stream.md#stream',
  query: z.strictObject({
    topic: optional(
      z.array(requiredText),
      'Only the items of this topic. Can be repeated (`topic=a&topic=b`, without brackets). Default: all topics',
    ),
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
  verb: 'readStream',
  async handle(c, { ref: readPath, query, call, workflows, commentEveryMs, uiMessages }) {
    const ref = readPath(c)
    const { topic: topics = [], from = 0, wait, limit, format: formatName, startIndex } = query(c)
    const format = formatOf(formatName, { uiMessages })
    const command = { ref, from: lastRead(c) ?? from, topics, followsChain: ref.runId === undefined }
    const asEvents = format !== null || !prefersJson(c)
    rejectIf(
      asEvents && (wait ?? limit) !== undefined,
      'wait and limit are only for JSON: send Accept: application/json',
    )
    rejectIf(format === null && startIndex !== undefined, 'startIndex is only for format=ui-message')
    // A response to HEAD must not add anything to the run.
    if (c.req.method === 'HEAD') {
      await workflows.status({ ref }, call(c))
      return respond(c, null, 200, {
        ...(asEvents ? EVENT_STREAM_HEADERS : { 'Content-Type': 'application/json' }),
        ...format?.headers,
      })
    }
    const follow = () => workflows.followStream(command, call(c))
    if (format !== null) return format.respond(c, follow, { startIndex, commentEveryMs })
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
const HAS_ITEMS = { required: ['items'], properties: { items: { minItems: 1 } } }
const EITHER = {
  if: HAS_ITEMS,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { not: { anyOf: [{ required: ['topic'] }, { required: ['data'] }] } },
  else: { required: ['topic', 'data'] },
}

/** An empty list beside an item counts as absent, as in other bodies. */
function hasItems(body: object): boolean {
  return 'items' in body && !isEmptyList(body.items)
}

const publishRequest = {
  name: 'PublishRequest',
  schema: z.pipe(
    z
      .strictObject({
        topic: optional(requiredText, 'The topic of the item'),
        data: optional(z.unknown(), 'The item: any JSON'),
        items: optional(
          z.array(item).check(z.maxLength(MAX_ITEMS)),
          'Instead of `topic` and `data`: several items, each with both',
        ),
      })
      .check(
        z.refine(
          (body) => (hasItems(body) ? !('topic' in body || 'data' in body) : 'topic' in body && 'data' in body),
          { message: 'must contain either topic and data, or items' },
        ),
      )
      .register(jsonForms, EITHER),
    z.transform(({ topic = '', data = null, items = [] }) => ({
      items: (items.length === 0 ? [{ topic, data }] : items).map((each) => ({ topic: each.topic, data: each.data })),
    })),
  ),
  isRequired: true,
} satisfies RequestBody<unknown>

const publish = endpointOf('publish', {
  method: 'post',
  path: '/workflow/:id/stream',
  id: 'publishToWorkflow',
  tag: 'Messages',
  summary: 'Publish items in its stream',
  docs: 'api/stream.md#publish',
  headers: ['Idempotency-Key'],
  body: publishRequest,
  responses: {
    202: { description: 'The run has received the items', schema: schemaOf('RunIds'), links: ['workflow'] },
  },
  errors: [
    ...RUN_ERRORS,
    ...BODY_ERRORS,
    ...EFFECT_ERRORS,
    'StreamNotFoundError',
    'WorkflowNotRunningError',
    'WorkflowNotReadyError',
    'DeadlineExceededError',
  ],
  takes: 'work',
  key: 'taken',
  status: 202,
  input: ({ ref, body: { items }, key }) => ({ ref, items, ...key }),
})

export const streamEndpoints = [read, publish]

function rejectIf(isInvalid: boolean, message: string): void {
  if (isInvalid) throw new ServiceError('ValidationError', message)
}

function toStart(text: string): StreamStart | null {
  if (text === 'now') return 'now'
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const position = parsePosition(text)
  return position?.last === 'end' ? null : position
}

/** The position of the last event that the client has received; null without one. */
function lastRead(c: Context<Env>): StreamStart | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const position = parsePosition(id)
  if (position !== null) return position
  throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event of this stream')
}
