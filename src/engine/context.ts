import type { temporal } from '@temporalio/proto'
import type { Call } from '../domain/model/call.ts'
import type { EngineFeatures } from '../domain/model/engine.ts'
import type { ErrorFacts } from '../domain/model/errors.ts'
import type { ExecutionRef } from '../domain/model/execution.ts'
import type { EngineClock } from './clock.ts'
import type { Payloads } from './payloads.ts'
import type { Rpc } from './rpc.ts'
import type { PollSlots } from './waits/poll-slots.ts'

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
