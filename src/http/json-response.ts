import type { Context } from 'hono'

/** A 200 response with the value as JSON; `undefined` becomes `null`. Unlike `c.json`, it keeps the type that serializes exact numbers. */
export function jsonResponse(c: Context, value: unknown): Response {
  return c.body(JSON.stringify(value ?? null), 200, { 'Content-Type': 'application/json' })
}
