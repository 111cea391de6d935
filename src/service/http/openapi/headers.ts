/** The headers that requests and responses can have. */
import type { Schema } from './schema.ts'

interface Header {
  description: string
  schema: Schema
  example?: string
}

const string = { type: 'string' }
const boolean = { type: 'boolean' }

/**
 * `Authorization`, `Accept` and `Content-Type` are not parameters in OpenAPI:
 * see the security schemes and the media types.
 */
export const REQUEST_HEADERS = {
  'X-Request-Id': {
    description:
      'The id of the request in the response and in the log: 1 to 128 of `A-Z a-z 0-9 _ . -`. Other values are replaced',
    schema: string,
  },
  traceparent: {
    description: 'The trace that the workflow continues (W3C Trace Context)',
    schema: string,
    example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
  tracestate: { description: 'Further facts about the trace (W3C Trace Context)', schema: string },
  'Idempotency-Key': {
    description: 'Makes the request safe to repeat: it is carried out once for each key',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
    example: 'order-22-checkout',
  },
  Prefer: {
    description: '`respond-async`: respond before the result is available; `wait=n`: but only after n seconds',
    schema: string,
    example: 'respond-async, wait=10',
  },
  'Last-Event-ID': { description: 'The last `id` that a client has received from the event stream', schema: string },
  'If-Match': {
    description: 'The `version` of what is to be replaced; `*`: any, but it must exist. A DELETE rejects it',
    schema: string,
  },
  'If-None-Match': {
    description: 'An `ETag`: the response is 304 if it is still the same. Of a PUT: `*`, if nothing may be replaced',
    schema: string,
  },
} as const satisfies Record<string, Header>

export type RequestHeader = keyof typeof REQUEST_HEADERS

export const RESPONSE_HEADERS = {
  'X-Request-Id': { description: 'The id of the request, as in the log', schema: string },
  Location: { description: 'Where the result is', schema: { type: 'string', format: 'uri-reference' } },
  'Retry-After': {
    description: 'Seconds after which the request can be repeated. Only if it is safe to repeat it',
    schema: { type: 'integer', minimum: 0 },
  },
  'Idempotency-Replayed': {
    description: 'Whether the response describes a run that an earlier request with the same key has started',
    schema: boolean,
  },
  'Portico-Workflow-Id': { description: 'With `body=output`: id of the workflow, percent-encoded', schema: string },
  'Portico-Activity-Id': { description: 'With `body=output`: id of the activity, percent-encoded', schema: string },
  'Portico-Run-Id': { description: 'With `body=output`: id of the run', schema: string },
  'Portico-Started': { description: 'Whether this request started the run, with `use-existing`', schema: boolean },
  'Portico-Output-Warning': {
    description: 'Why the output does not match its published schema, with `SERVICE_CHECK_OUTPUTS`',
    schema: string,
  },
  'Portico-Warning': { description: 'Why the signal may do nothing, like `warnings` of the body', schema: string },
  'Preference-Applied': { description: 'What was applied of `Prefer`', schema: string },
  'Portico-Error-Source': {
    description: 'What rejected the request, like `source` of the body. An error without it comes from a proxy',
    schema: { type: 'string', enum: ['workflow', 'engine', 'gateway'] },
  },
  ETag: { description: 'Changes when the content changes', schema: string },
  Deprecation: { description: 'Since when what the request uses is deprecated (RFC 9745)', schema: string },
  Sunset: { description: 'From when on it may be missing, if that is decided (RFC 8594)', schema: string },
  Link: { description: 'About the deprecation', schema: string },
  'WWW-Authenticate': { description: 'What is expected in `Authorization`', schema: string },
  'Cache-Control': {
    description:
      '`no-store`, of events also `no-transform`. Of a response with an `ETag` `no-cache`, with `private` if it depends on the rules of the caller',
    schema: string,
  },
  'Content-Encoding': { description: '`gzip` for a client that accepts it', schema: string },
  Vary: { description: 'The request headers on which the response depends', schema: string },
  'Content-Security-Policy': {
    description: 'What a page may load: the reference page only its own files, the page of a link nothing',
    schema: string,
  },
  'Referrer-Policy': { description: '`no-referrer`', schema: string },
  'X-Robots-Tag': { description: '`noindex`', schema: string },
  'X-Content-Type-Options': { description: '`nosniff`', schema: string },
  'X-Accel-Buffering': { description: '`no` for event streams, so that nginx does not buffer them', schema: string },
  'X-Vercel-AI-UI-Message-Stream': { description: 'With the format `ui-message`: `v1`', schema: string },
  'X-Workflow-Run-Id': {
    description:
      'With the format `ui-message`: the workflow id, which readers of the AI SDK put into the path of the stream',
    schema: string,
  },
  'X-Workflow-Stream-Tail-Index': {
    description: 'With a negative `startIndex`: the index of the last chunk that is stored now',
    schema: { type: 'integer' },
  },
  Connection: { description: '`close` if the connection cannot be used again', schema: string },
} as const satisfies Record<string, Header>

export type ResponseHeader = keyof typeof RESPONSE_HEADERS
