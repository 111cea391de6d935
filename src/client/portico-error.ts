import type { ErrorFacts, ErrorName } from '../service/model/errors.ts'
import type { AsJson } from './catalog-types.ts'
import type { ActivityResult, WorkflowResult } from './responses.ts'

/** Errors that the client itself creates. */
export type ClientErrorName =
  /** The run has ended, but not with `completed`. `result` says how. */
  | 'WorkflowFailedError'
  /** No response: the service cannot be reached, or the connection was cut. `cause` has the reason. */
  | 'ConnectionError'
  /** The response is not Portico's, but that of a proxy, for example. */
  | 'UnexpectedResponseError'
  /** Items of a stream are lost. `truncated` says which. */
  | 'StreamTruncatedError'

/** What is known about an error. `issues`, `available` and the others are described in docs/errors.md. */
export interface PorticoErrorFacts extends AsJson<Omit<ErrorFacts, 'mayHaveTakenEffect' | 'retryAfterSeconds'>> {
  /** HTTP status of the response; null if there was none. */
  status: number | null
  /** `X-Request-Id` of the response, which the service's log has too. */
  requestId?: string
  /**
   * The key that a start, a signal or an update was sent with.
   * If it may have been carried out, send it again with this key.
   */
  idempotencyKey?: string
  /** Set if the service says that the request can be sent again. */
  retryAfterMs?: number
  /** How often the request was sent. */
  attempts?: number
  /** Set if the request changes something and may have been carried out. */
  mayHaveTakenEffect?: boolean
  /** How the run has ended, for `WorkflowFailedError` and `ActivityFailedError`. */
  result?: ActivityResult | WorkflowResult
  /** The lost items, `from` to `to - 1`, for `StreamTruncatedError`. */
  truncated?: { from: number; to: number }
}

/** Every error of the client, except those of `signal`: an aborted call rejects with the signal's reason. */
export class PorticoError extends Error implements PorticoErrorFacts {
  /** The stable name, for programs; `name` has the same value. */
  readonly error: ErrorName | ClientErrorName
  declare readonly status: number | null
  declare readonly requestId?: string
  declare readonly idempotencyKey?: string
  declare readonly retryAfterMs?: number
  declare readonly attempts?: number
  declare readonly mayHaveTakenEffect?: boolean
  declare readonly result?: ActivityResult | WorkflowResult
  declare readonly truncated?: NonNullable<PorticoErrorFacts['truncated']>
  declare readonly workflowId?: string
  declare readonly runId?: string
  declare readonly updateId?: string
  declare readonly activityId?: string
  /** Of an activity without a workflow. */
  declare readonly activityStatus?: NonNullable<PorticoErrorFacts['activityStatus']>
  declare readonly completed?: true
  declare readonly workflowStatus?: NonNullable<PorticoErrorFacts['workflowStatus']>
  declare readonly problem?: NonNullable<PorticoErrorFacts['problem']>
  /** Why the workflow, the update or the query failed: type, `details` and causes of the worker's failure. */
  declare readonly errorDetails?: NonNullable<PorticoErrorFacts['errorDetails']>
  declare readonly action?: string
  declare readonly sizeBytes?: number
  declare readonly recorded?: string
  declare readonly at?: string
  declare readonly available?: string[]
  declare readonly issues?: NonNullable<PorticoErrorFacts['issues']>
  declare readonly source?: NonNullable<PorticoErrorFacts['source']>

  constructor(error: ErrorName | ClientErrorName, message: string, facts: PorticoErrorFacts, cause?: unknown) {
    super(message, { cause })
    this.name = error
    this.error = error
    // A response cannot replace properties that every error has, such as `stack`.
    Object.assign(this, Object.fromEntries(Object.entries(facts).filter(([key]) => !(key in this))))
  }
}

/** Adds the facts that the error does not have. */
export function withFacts(error: unknown, facts: Partial<PorticoErrorFacts>): unknown {
  return error instanceof PorticoError ? Object.assign(error, { ...facts, ...error }) : error
}
