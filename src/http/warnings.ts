import type { Context } from 'hono'
import type { Env } from './context.ts'
import { toHeaderValue } from './header-value.ts'
import { setHeader } from './response.ts'

/** The body with these warnings, which the header `Portico-Warning` has too. Without any, the body as it is. */
export function withWarnings<Body extends object>(
  c: Context<Env>,
  body: Body,
  warnings: string[],
): Body & { warnings?: string[] } {
  if (warnings.length === 0) return body
  setHeader(c, 'Portico-Warning', toHeaderValue(warnings.join('; ')))
  return { ...body, warnings }
}
