import type { Context } from 'hono'
import type { Env } from './context.ts'

/**
 * What happens to a request before its handler. A step can throw a `ServiceError` to reject the request, or respond to
 * it. It releases what it has acquired with `whenResponded`.
 */
export type RequestStep = (c: Context<Env>) => Response | undefined | Promise<Response | undefined>

/** A request without its body. Hono's context is one; `shed-load.ts` creates one without a context. */
export interface RequestHead {
  req: {
    method: string
    /** Below the base path, still percent-encoded. */
    path: string
    url: string
    header(name: string): string | undefined
  }
}

/** A step that only rejects requests. */
export type RequestCheck = (c: RequestHead) => undefined
