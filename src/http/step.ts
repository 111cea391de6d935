import type { Context } from 'hono'
import type { Env } from './context.ts'

/**
 * What happens to a request before its handler. A step rejects the request by throwing a `ServiceError`, or responds to
 * it itself. What it takes it gives back with `whenResponded`.
 */
export type RequestStep = (c: Context<Env>) => Response | undefined | Promise<Response | undefined>

/** A request without its body. A context of Hono's has it; `shed-load.ts` makes one without a context. */
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
