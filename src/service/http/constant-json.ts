import type { Context } from 'hono'
import { sha256 } from '../../shared/lib/digest.ts'
import { singleFlight } from '../../shared/lib/single-flight.ts'
import { weighedCache } from '../../shared/lib/weighed-cache.ts'
import { type Env, respond } from './context.ts'

/** The body of a response that does not change. */
interface Constant<Body extends BodyInit = string> {
  body: Body
  /** A hash of it, so that every instance of the service sends the same one. */
  etag: string
}

/**
 * Responds with a value that does not change, and its `ETag`; 304 for a client that has it already. The value and its
 * JSON are created once for `keys`, objects that together identify the value, and cached as long as memory permits.
 * Concurrent requests share the creation.
 */
export type RespondConstant = (c: Context<Env>, keys: readonly object[], create: () => unknown) => Promise<Response>

// A catalog takes a few kilobytes, the OpenAPI document of a large one some megabytes.
const MAX_BYTES = 32 << 20

export function createConstantJson(): RespondConstant {
  const constants = weighedCache<Constant>({ maxBytes: MAX_BYTES, maxAgeMs: Number.POSITIVE_INFINITY })
  const createOnce = singleFlight<string, Constant>()
  const names = new WeakMap<object, string>()
  let named = 0

  async function createConstant(name: string, create: () => unknown): Promise<Constant> {
    const constant = await constantOf(JSON.stringify(await create()))
    constants.set(name, constant, 2 * constant.body.length)
    return constant
  }

  function nameOf(key: object): string {
    const name = names.get(key) ?? String(named++)
    names.set(key, name)
    return name
  }

  return async (c, keys, create) => {
    const name = keys.map(nameOf).join()
    const constant = constants.get(name) ?? (await createOnce(name, () => createConstant(name, create)))
    return jsonOf(c, constant)
  }
}

/** Responds with a value that is requested again and again, and its `ETag`; 304 for a client that has it already. */
export async function taggedResponse(c: Context<Env>, value: unknown): Promise<Response> {
  return jsonOf(c, await constantOf(JSON.stringify(value)))
}

function jsonOf(c: Context<Env>, constant: Constant): Response {
  // What a caller with rules may see depends on the rules, so shared caches must not keep the response.
  const isRestricted = c.get('caller')?.kind === 'granted'
  const cacheControl = isRestricted ? 'private, no-cache' : 'no-cache'
  return constantResponse(c, constant, { 'Content-Type': 'application/json' }, { 'Cache-Control': cacheControl })
}

async function constantOf(body: string): Promise<Constant> {
  return { body, etag: `"${await sha256(body)}"` }
}

/** Responds with the body, these headers and the `ETag`; 304 for a client that has the body already. */
export function constantResponse(
  c: Context<Env>,
  { body, etag }: Constant<BodyInit>,
  ofBody: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Response {
  return matches(c.req.header('If-None-Match'), etag)
    ? respond(c, null, 304, { ...headers, ETag: etag })
    : respond(c, body, 200, { ...headers, ...ofBody, ETag: etag })
}

/**
 * Compares weakly, because proxies that compress a response make its tag weak (`W/`):
 * https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2
 */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const [own, ...others] = [etag, ...ifNoneMatch.split(',')].map((tag) => tag.trim().replace(/^W\//, ''))
  return others.some((tag) => tag === own || tag === '*')
}
