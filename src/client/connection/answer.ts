/** The response to one attempt of a request. */

import { retryAfterMs } from '../../shared/lib/retry-after.ts'
import { PorticoError, type PorticoErrorFacts } from '../portico-error.ts'
import type { ParseJson } from './json.ts'

export interface ParsedResponse {
  status: number
  body: unknown
}

/** Reads the response. Throws a `PorticoError` for an error, and for a response that is not Portico's. */
export async function readAnswer(response: Response, request: string, parse: ParseJson): Promise<ParsedResponse> {
  const { status, ok, headers } = response
  const body = parseOrUndefined(await response.text(), parse)
  if (ok && body !== undefined) return { status, body }
  const facts = { status, ...requestId(headers), ...retryAfter(headers) }
  const message = `${request}: unexpected response with status ${status}`
  if (ok || !PROBLEM_TYPE.test(headers.get('Content-Type') ?? '') || !isProblem(body))
    throw new PorticoError('UnexpectedResponseError', message, facts)
  throw toError(body, facts)
}

/** The error of a problem body. */
export function toError(problem: ReceivedProblem, facts: Partial<PorticoErrorFacts>): PorticoError {
  // These keys of RFC 9457 repeat others.
  const { type: _type, title: _title, detail: _detail, error, message, ...more } = problem
  return new PorticoError(error, message, { ...more, ...facts })
}

// The JSON errors of some gateways also have `error` and `message`. Proxies may add parameters.
const PROBLEM_TYPE = /^application\/problem\+json\s*(;|$)/i

export type ReceivedProblem = Omit<PorticoError, 'name' | 'stack'> & {
  type?: unknown
  title?: unknown
  detail?: unknown
}

export function isProblem(body: unknown): body is ReceivedProblem {
  return (
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string' && 'message' in body
  )
}

/** Undefined if the text is not JSON. */
function parseOrUndefined(text: string, parse: ParseJson): unknown {
  try {
    return parse(text)
  } catch {
    // The page of a proxy, for example.
    return undefined
  }
}

function requestId(headers: Headers): { requestId?: string } {
  const id = headers.get('X-Request-Id')
  return id === null ? {} : { requestId: id }
}

function retryAfter(headers: Headers): { retryAfterMs?: number } {
  const ms = retryAfterMs(headers.get('Retry-After'))
  return ms === null ? {} : { retryAfterMs: ms }
}
