import type { Context } from 'hono'
import { sha256 } from '../lib/sha256.ts'
import type { Env } from './context.ts'
import { respond } from './response.ts'

interface ConstantJson {
  text: string
  /** Made from the text, so that every instance of the service sends the same one. */
  etag: string
}

const constants = new WeakMap<object, ConstantJson>()

/**
 * A response with a value that does not change, and its `ETag`; 304 for a client that has it already. The JSON is made
 * once for each `key`, an object that stands for the value.
 */
export async function constantJson(c: Context<Env>, key: object, value: unknown): Promise<Response> {
  const { text, etag } = constants.get(key) ?? (await createConstant(key, value))
  return matches(c.req.header('If-None-Match'), etag)
    ? respond(c, null, 304, { ETag: etag })
    : respond(c, text, 200, { 'Content-Type': 'application/json', ETag: etag })
}

async function createConstant(key: object, value: unknown): Promise<ConstantJson> {
  const text = JSON.stringify(value)
  const constant = { text, etag: `"${await sha256(text)}"` }
  constants.set(key, constant)
  return constant
}

/** Proxies that compress a response make its tag a weak one (`W/`): https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2 */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
