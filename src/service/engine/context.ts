/** The context of engine calls, the parts that their requests share, and what is known about the engine's clock. */
import type { temporal } from '@temporalio/proto'
import { type Payload, toPayload } from '../../shared/temporal/payload.ts'
import type { Call } from '../model/call.ts'
import type { EngineFeatures } from '../model/engine.ts'
import type { ErrorFacts } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Headers } from '../model/workflow-options.ts'
import type { Payloads } from './payloads.ts'
import type { PollSlots } from './polls.ts'
import type { Rpc } from './rpc.ts'

/** What every engine call needs. */
export interface EngineContext {
  rpc: Rpc
  /** What the transport supports. */
  features: EngineFeatures
  namespace: string
  payloads: Payloads
  clock: EngineClock
  /** For every long poll. */
  polls: PollSlots
}

/** The identity that the engine records with our requests. It names neither host nor process. */
export const IDENTITY = 'portico'

/** The same with the caller, for requests that change something: the engine's history is the audit log. */
export function identityOf({ caller }: Call): string {
  return caller === undefined ? IDENTITY : `${IDENTITY} ${caller.id}`
}

/** The engine's form of a reference. An empty run id means the latest run. */
export function toExecution({ workflowId, runId = '' }: ExecutionRef): temporal.api.common.v1.IWorkflowExecution {
  return { workflowId, runId }
}

/** The details of every error about this execution. */
export function executionIds({ workflowId, runId }: ExecutionRef): ErrorFacts {
  return runId === undefined ? { workflowId } : { workflowId, runId }
}

export interface RequestHeaders {
  /** The engine's form; null without headers. */
  header: ReturnType<typeof toHeader>
  /** For the limit on the size of the request. */
  payloads: Payload[]
}

/** What the request carries to the interceptors of workers. Headers in its body replace those of the HTTP request. */
export function requestHeaders({ traceContext, forwardedHeaders = {} }: Call, headers: Headers = {}): RequestHeaders {
  const trace: [string, unknown][] = traceContext === undefined ? [] : [[TRACE_HEADER, traceContext]]
  const header = toHeader(new Map([...trace, ...Object.entries(forwardedHeaders), ...Object.entries(headers)]))
  return { header, payloads: Object.values(header?.fields ?? {}) }
}

/** Where the OpenTelemetry interceptors of Temporal's SDKs look for a trace context: a JSON object of strings. */
const TRACE_HEADER = '_tracer-data'

/** Temporal headers, as plain JSON: interceptors read them without a codec. Null without any. */
function toHeader(
  values: ReadonlyMap<string, unknown>,
): { fields: Record<string, temporal.api.common.v1.IPayload> } | null {
  if (values.size === 0) return null
  return { fields: Object.fromEntries([...values].map(([name, value]) => [name, toPayload(value)])) }
}

/** What is known about the engine's clock, from the start times of runs. */
export interface EngineClock {
  /**
   * Records a time of the engine's clock (epoch milliseconds) that has just been received. `isNew`: that of a run that
   * the call has started, which shows how far the clock is behind even if that is more than a minute.
   */
  observe(engineTime: number | null, options?: { isNew: boolean }): void
  /** The earliest time that the engine's clock can have shown when ours showed `at` (both epoch milliseconds). */
  earliest(at: number): number
}

// Assumed until it is measured: no engine is further behind than this.
const MAX_BEHIND_MS = 60_000

// A measurement expires, because clocks are adjusted.
const MEASUREMENT_VALID_MS = 600_000

/**
 * Keeps an upper bound of how far the engine's clock is behind ours: the difference between the arrival of a response
 * and the newest time in it.
 *
 * A clock that seems to be ahead counts as exact: an engine may have several hosts, and only one of them may be ahead.
 */
export function createEngineClock(now: () => number = Date.now): EngineClock {
  let measured = { behindMs: MAX_BEHIND_MS, validUntil: 0 }
  const isMeasured = () => now() < measured.validUntil
  const behindMs = () => (isMeasured() ? measured.behindMs : MAX_BEHIND_MS)
  return {
    observe(engineTime, { isNew } = { isNew: false }) {
      if (engineTime === null) return
      const differenceMs = Math.max(0, now() - engineTime)
      const isCloser = differenceMs <= behindMs() || (isNew && !isMeasured())
      if (isCloser) measured = { behindMs: differenceMs, validUntil: now() + MEASUREMENT_VALID_MS }
    },
    earliest: (at) => at - behindMs(),
  }
}
