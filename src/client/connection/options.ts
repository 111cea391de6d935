/** Options of a client, and of each call. `docs/client.md` shows them in use. */
import type { PorticoError } from '../portico-error.ts'

export interface ClientOptions {
  /** Where the service is: `http://127.0.0.1:3001`, with the base path if it has one. */
  url: string
  /**
   * A credential, if the service requires one; or a function that returns one. The function is called before the first
   * request, after a 401, and whenever a stream connects again, so that tokens can expire.
   */
  token?: string | (() => string | Promise<string>) | undefined
  /** The namespace of all requests, one of the service's `ENGINE_NAMESPACES`. Default: that of the service. */
  namespace?: string | undefined
  /** The catalog (task queue) of starts and of `catalog()`. Default: that of the service. */
  catalog?: string | undefined
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
  /** Default: the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** Parses the JSON of responses. Default: an integer that a number cannot hold exactly is a `bigint`. */
  parse?: ((json: string) => unknown) | undefined
  /**
   * How long a call is repeated while the service does not respond, in milliseconds. Default 60 000; 0 never repeats.
   */
  retryMs?: number | undefined
  /** Called before each pause after which a request is sent again. */
  onRetry?: ((retry: Retry) => void) | undefined
  /**
   * How long one request waits for a result, in milliseconds. Default 25 000. If connections are cut earlier, the
   * client waits for a shorter time by itself. At most `SERVICE_RUN_MAX_TIMEOUT` of the service.
   */
  maxWaitMs?: number | undefined
}

/** A request that has failed and is sent again. */
export interface Retry {
  error: PorticoError
  /** How often it was sent so far. */
  attempts: number
  /** How long the client waits before it sends it again, in milliseconds. */
  delayMs: number
}

/** Options of every call. Neither of them ends the workflow. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /**
   * How long the call may take, in milliseconds, with all its attempts. `run` and `result` then reject with
   * `WorkflowExecutionTimedOutError`, other calls with `DeadlineExceededError`. Default: no limit.
   */
  timeoutMs?: number | undefined
}
