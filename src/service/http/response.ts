/**
 * Creates all responses, with a plain object of headers. Hono's own `c.header`, `c.body` and `c.json` create a
 * `Headers` object, which costs a tenth of a small request.
 */
import type { Context } from 'hono'
import type { Env } from './context.ts'
import { toHeaderValue } from './header-value.ts'
import { docsUrl } from './problem.ts'

/** Adds a header to the response to this request, also to an error response. */
export function setHeader(c: Context<Env>, name: string, value: string): void {
  c.get('headers')[name] = value
}

/**
 * Otherwise workerd compresses what has a `Content-Encoding`:
 * https://developers.cloudflare.com/workers/runtime-apis/response/#parameters
 */
const AS_IT_IS = { encodeBody: 'manual' }

/** A response with these headers, and those that were added with `setHeader`. */
export function respond(
  c: Context<Env>,
  body: BodyInit | null,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  return new Response(body, { status, headers: { ...c.get('headers'), ...headers }, ...AS_IT_IS })
}

/**
 * A response with the value as JSON; `undefined` becomes `null`.
 * `JSON.rawJSON` objects in it become exact numbers.
 */
export function jsonResponse(c: Context<Env>, value: unknown, status = 200): Response {
  return respond(c, JSON.stringify(value ?? null), status, { 'Content-Type': 'application/json' })
}

/** Adds the warnings to the body and to the header `Portico-Warning`. Without warnings, returns the body unchanged. */
export function withWarnings<Body extends object>(
  c: Context<Env>,
  body: Body,
  warnings: string[],
): Body & { warnings?: string[] } {
  if (warnings.length === 0) return body
  setHeader(c, 'Portico-Warning', toHeaderValue(warnings.join('; ')))
  return { ...body, warnings }
}

/** A part of the API that will be removed: docs/stability.md. */
export interface Deprecation {
  /** What the log calls it. */
  name: string
  /** A day, such as `2026-01-01`. */
  since: string
  /** The first day on which it may be missing, if that is decided. */
  sunset?: string
}

/** What `announceDeprecation` sets. */
export const DEPRECATION_HEADERS = ['Deprecation', 'Sunset', 'Link'] as const

/** Adds the headers of RFC 9745 and RFC 8594 to the response, and the name to the log line of the request. */
export function announceDeprecation(c: Context<Env>, { name, since, sunset }: Deprecation): void {
  setHeader(c, 'Deprecation', `@${Date.parse(since) / 1000}`)
  if (sunset !== undefined) setHeader(c, 'Sunset', new Date(sunset).toUTCString())
  setHeader(c, 'Link', `<${docsUrl('api.md#deprecated-fields')}>; rel="deprecation"`)
  c.get('facts').deprecated = name
}

/** A response to a request that has no context. */
export function respondWithoutContext(body: string, init: ResponseInit): Response {
  return new Response(body, init)
}
