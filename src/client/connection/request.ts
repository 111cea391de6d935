/** A request, and how long it may take. */
export interface HttpRequest {
  method: string
  /** Below the URL of the service. */
  path: string
  /** Parameters that are undefined are left out. */
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, string>
  /** Whether it can be sent again although it may have been carried out. Default: all but a POST. */
  isRetryable?: boolean
  /** Whether it changes nothing. Default: only a GET. */
  isRead?: boolean
  /** Whether it is sent again until the deadline. Default: only for `retryMs`. */
  isWait?: boolean
  /** Set if the service waits before it responds, in milliseconds: for a run, an event, or the handler of a message. */
  waitMs?: number
}

export interface RequestLimits {
  signal?: AbortSignal | undefined
  /** Epoch milliseconds. */
  deadlineAt: number
  /** The time from which `deadlineAt` was computed, for error messages. */
  timeoutMs: number
}
