/**
 * Page tokens: a position in a list, with a hash over the position and the request that the token belongs to. They need
 * no memory, so that any replica continues where another one stopped.
 *
 * The hash detects mistakes. It need not be a signature: with any position, a client reads only what its request may
 * read.
 */
import { fromBase64, toBase64Url } from '../../shared/lib/base64.ts'
import { sha256 } from '../../shared/lib/digest.ts'
import { canonicalJson } from '../../shared/lib/json.ts'
import { ServiceError } from './errors.ts'

// In hexadecimal digits: 96 bits.
const HASH_LENGTH = 24

/** `request` has everything that must stay the same from page to page; `position` is JSON. */
export async function sealPageToken(request: unknown, position: unknown): Promise<string> {
  const text = JSON.stringify(position)
  return toBase64Url(new TextEncoder().encode((await hash(request, text)) + text))
}

/** The position. Throws `InvalidPageTokenError` for a damaged token, and for that of another request. */
export async function openPageToken<T>(
  request: unknown,
  token: string,
  isPosition: (value: unknown) => value is T,
): Promise<T> {
  const text = decode(token)
  const positionText = text.slice(HASH_LENGTH)
  if (text.slice(0, HASH_LENGTH) !== (await hash(request, positionText))) throw invalidPageToken()
  const position = parseOrNull(positionText)
  if (!isPosition(position)) throw invalidPageToken()
  return position
}

/** Whether a position can be a token of the engine, in base64. The hash does not prove it: anybody can compute one. */
export function isEngineToken(value: unknown): value is string {
  return typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
}

/** One page of what the engine lists. `request` is that of `sealPageToken`. */
export async function enginePage<Found extends { nextToken: string | null }>(
  request: object,
  { pageSize, pageToken }: { pageSize: number; pageToken: string | null },
  list: (page: { size: number; token: string | null }) => Promise<Found>,
): Promise<Omit<Found, 'nextToken'> & { nextPageToken: string | null }> {
  const token = pageToken === null ? null : await openPageToken(request, pageToken, isEngineToken)
  const { nextToken, ...found } = await list({ size: pageSize, token })
  return { ...found, nextPageToken: nextToken === null ? null : await sealPageToken(request, nextToken) }
}

async function hash(request: unknown, positionText: string): Promise<string> {
  return (await sha256(`page token\n${canonicalJson(request)}\n${positionText}`)).slice(0, HASH_LENGTH)
}

/** Null, which is not a valid position, for a string that is not JSON. */
function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function decode(token: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(token))
  } catch {
    throw invalidPageToken()
  }
}

/** `cause` is the engine's error, if it was the engine that rejected the token. */
export function invalidPageToken(cause?: unknown): ServiceError {
  return new ServiceError(
    'InvalidPageTokenError',
    'pageToken is damaged or belongs to another request: send it with the same path and filters as the previous page, or begin without it',
    { cause },
  )
}
