/** Requests about an activity, to the run that is the latest one. */
import type { Connection } from '../connection/connection.ts'
import type { CallOptions } from '../connection/options.ts'
import type { HttpRequest } from '../connection/request.ts'
import { sendKeyed } from '../messages.ts'
import type { RunOfHandle } from '../run-of-handle.ts'

type Given = CallOptions & { idempotencyKey?: string | undefined }

export interface Reports {
  /** `to`: the path below that of the run. What `request` has besides is the body. Default of `more`: retryable. */
  post<Body>(to: string, request: CallOptions | undefined, more?: Partial<HttpRequest>): Promise<Body>
  /** The same with a key. */
  end<Body>(to: string, request: Given | undefined, isRetryable?: boolean): Promise<Body>
}

export function createReports({ send }: Connection, { onLatestRun }: RunOfHandle): Reports {
  return {
    post: (to, { signal, timeoutMs, ...body } = {}, more = { isRetryable: true }) =>
      onLatestRun((path, options) => send({ method: 'POST', path: `${path}/${to}`, body, ...more }, options), {
        signal,
        timeoutMs,
      }),
    end: <Body>(to: string, request: Given | undefined, isRetryable = true) =>
      sendKeyed<Body>(onLatestRun, to, request, send, { isRetryable }),
  }
}
