import type { Context } from 'hono'

/** 200 with the value as bare JSON; a handler that returned nothing answers `null`. Exact numbers leave as they came. */
export function answer(c: Context, value: unknown): Response {
  return c.body(JSON.stringify(value ?? null), 200, { 'Content-Type': 'application/json' })
}
