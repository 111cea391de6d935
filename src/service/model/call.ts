import type { Caller } from '../../shared/access/caller.ts'
import { deadlineSignal, unlessAborted } from '../../shared/lib/abort.ts'
import { sharesPromises, singleFlight } from '../../shared/lib/single-flight.ts'
import { TIMEOUT_MS } from './deadlines.ts'
import { type ResourceIds, ServiceError } from './errors.ts'

/** The deadline, abort signal and log of one request. The last argument of every verb. */
export interface Call {
  /** Aborts when the client disconnects or the service shuts down. It ends the waiting, never the workflow. */
  signal: AbortSignal
  /** Epoch milliseconds. */
  deadlineAt: number
  requestId: string
  /** Absent for the service itself, and where no credential is required. */
  caller?: Caller
  /** The caller that the credential has by the policy that is now in force. Absent if no policy can end the request. */
  callerNow?: (() => Caller) | undefined
  /**
   * Which workflows the caller may now read if their runs continue the run of the request; null for all of them. Absent
   * for callers without rules.
   */
  admits?: () => ((workflowName: string) => boolean) | null
  /** The trace that the workflow or handler continues, as the headers `traceparent` and `tracestate`. */
  traceContext?: Readonly<Record<string, string>> | undefined
  /** Headers of the request that workers receive as Temporal headers. */
  forwardedHeaders?: Readonly<Record<string, string>>
  /** Adds fields to the request's log line. */
  note(fields: Record<string, unknown>): void
  /** Says which run the request has found, for its log line; only the first one counts. Absent without such a line. */
  noteRun?(run: Found): void
  /** Sets the error of the request's log line, for a response that reports an error as a success. */
  reportError(error: Error): void
  /** Adds facts to a decision that the audit log records. Later facts add to earlier ones. */
  audit(facts: Partial<AuditFacts>): void
  /** Adds another decision of the same request, and returns its `audit`. Absent if there is only one. */
  addDecision?(): Call['audit']
  /**
   * Repeats a decision of the policy for the caller that the same credential has by a policy later than that of
   * `decidedFor`. If `decide` denies it then, the request ends; any other error repeats the decision. A decision with
   * the same key replaces the one before. Absent if no policy can end the request.
   */
  decideAgain?: ((key: string, decide: DecideAgain, decidedFor: Caller) => void) | undefined
  /** Marks the request as only waiting from now on: it no longer counts towards the limit on requests in flight. */
  startWaiting(): void
  /**
   * Counts the request as that many waits of its caller from now on, instead of one. Throws a `TooManyRequestsError` if
   * the caller may not have so many. Absent for callers without limits.
   */
  countWaits?: ((waits: number) => void) | undefined
  /** Adds a header to the response: the output of the workflow or handler does not match its schema. */
  warnOfOutput(message: string): void
  /** Logs a warning that concerns more than this request. */
  warn(message: string, fields: Record<string, unknown>): void
}

type Found = Pick<AuditFacts, 'runId' | 'workflowId' | 'workflowName'>

export type DecideAgain = (caller: Caller) => unknown

/** The abort reason at shutdown. */
export const SHUTTING_DOWN = new DOMException('the service is shutting down', 'AbortError')

/** The abort reason of a request that waits when the credential of its caller expires. */
export const CREDENTIAL_EXPIRED = new DOMException('the credential has expired', 'AbortError')

/** The abort reason of a request that waits when a new policy does not allow it. */
export const CREDENTIAL_REVOKED = new DOMException('the policy has changed', 'AbortError')

const BY_SERVICE: ReadonlySet<unknown> = new Set([SHUTTING_DOWN, CREDENTIAL_EXPIRED, CREDENTIAL_REVOKED])

/** Whether the service has aborted the request. Unlike after a disconnect, the client still receives the response. */
export function isAbortedByService({ aborted, reason }: AbortSignal): boolean {
  return aborted && BY_SERVICE.has(reason)
}

/**
 * A call of the service itself, for example a read that several requests share: no request aborts it or logs its facts.
 */
export function backgroundCall(name: string, timeoutMs: number): Call {
  const { signal } = new AbortController()
  const nowhere = { note() {}, reportError() {}, audit() {}, startWaiting() {}, warnOfOutput() {}, warn() {} }
  const addDecision = () => nowhere.audit
  return { signal, addDecision, deadlineAt: Date.now() + timeoutMs, requestId: name, ...nowhere }
}

/**
 * The same call with `timeoutMs` from now on, and a signal that never aborts:
 * for a last read after the call was aborted.
 */
export function unabortable(call: Call, timeoutMs: number): Call {
  const { signal } = new AbortController()
  return { ...withTimeout(call, timeoutMs), signal }
}

/**
 * The same for a read that explains an error. At shutdown it has less time, because the response must be sent before
 * the process ends.
 */
export function forExplanation(call: Call, timeoutMs: number): Call {
  return unabortable(call, call.signal.aborted ? TIMEOUT_MS.explanationAtShutdown : timeoutMs)
}

/** The same call for a read that the caller has not requested: the audit log does not record it. */
export function unaudited(call: Call): Call {
  const audit = () => {}
  return { ...call, audit, addDecision: () => audit }
}

/** Whether the caller may read the run, which continues the run of the request. */
export function admitsRun({ admits }: Call, { workflowName }: { workflowName: string }): boolean {
  return admits?.()?.(workflowName) ?? true
}

/** Returns the call of each attempt at the same change. Its decisions replace those of the attempt before. */
export function attemptsOf(call: Call): () => Call {
  const audits: Call['audit'][] = []
  return () => {
    const left = audits.values()
    const addDecision = () => left.next().value ?? add()
    return { ...call, addDecision }
  }

  function add(): Call['audit'] {
    const audit = call.addDecision?.() ?? call.audit
    audits.push(audit)
    return audit
  }
}

/** The same call with `timeoutMs` from now on. */
export function withTimeout(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Date.now() + timeoutMs }
}

/** The same call with at most `timeoutMs` from now on. */
export function atMost(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Math.min(call.deadlineAt, Date.now() + timeoutMs) }
}

// Callers wait so much longer than the shared call, whose own error says why there is no response.
const ANSWER_MS = 1000

/**
 * Callers that need the same at the same time share one call of `act`. A caller that leaves does not end it for the
 * others. On workerd each has its own, which it does end.
 */
export function shareCalls<Key, T>(
  timeoutMs: number,
  act: (key: Key, call: Call) => Promise<T>,
): (key: Key, call: Call) => Promise<T> {
  if (!sharesPromises()) return (key, call) => act(key, atMost(call, timeoutMs))
  const share = singleFlight<Key, T>()
  return (key, call) => {
    const begin = () => act(key, { ...atMost(call, timeoutMs), signal: new AbortController().signal })
    return withinCall(share(key, begin), atMost(call, timeoutMs + ANSWER_MS))
  }
}

/** Awaits a promise that requests may share, until this call's deadline or abort. The promise itself continues. */
export async function withinCall<T>(shared: T | Promise<T>, { deadlineAt, signal }: Call): Promise<T> {
  if (!(shared instanceof Promise)) return shared
  // A call that arrived during shutdown is aborted from the start, but may still be answered from the cache.
  const linked = signal.aborted ? deadlineSignal(deadlineAt) : deadlineSignal(deadlineAt, signal)
  try {
    return await unlessAborted(shared, linked.signal)
  } catch (error) {
    const isAbort = linked.signal.aborted && error === linked.signal.reason
    throw isAbort ? noResponse() : error
  } finally {
    linked.release()
  }
}

function noResponse(): ServiceError {
  return new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.', {
    details: { retryAfterSeconds: 1 },
  })
}

/** What the audit log says about one decision of the policy. */
export interface AuditFacts extends ResourceIds {
  /** A verb, with the handler if there is one: `start`, `signal:approve`. Empty if it turned out not to be done. */
  action: string
  /** The rule that allows it, `none` if it is denied; null for operators, and for requests without a credential. */
  rule: string | null
  /** Of the run, if the path does not name it. */
  namespace?: string
  workflowId?: string
  runId?: string
  workflowName?: string
  /** Of a standalone activity. */
  activityId?: string
  /**
   * What a batch does to its runs: `terminate`, `signal:approve`. `stop-batch` if the batch itself is stopped. What is
   * done to a standalone activity: `stop`.
   */
  operation?: string
  /** To how many. */
  matching?: number
}
