import type { Context } from 'hono'
import type { Env } from './context.ts'
import { respond } from './response.ts'

/**
 * A response with the value as JSON; `undefined` becomes `null`.
 * Unlike `c.json`, it keeps the type that serializes exact numbers.
 */
export function jsonResponse(c: Context<Env>, value: unknown, status = 200): Response {
  return respond(c, JSON.stringify(value ?? null), status, { 'Content-Type': 'application/json' })
}
