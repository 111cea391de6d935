import type { temporal } from '@temporalio/proto'
import type { ErrorFacts } from '../domain/errors.ts'
import type { ExecutionRef } from '../domain/execution.ts'
import type { EngineClock } from './clock.ts'
import type { Payloads } from './payloads.ts'
import type { Rpc } from './rpc.ts'

/** What every call needs. */
export interface EngineContext {
  rpc: Rpc
  namespace: string
  payloads: Payloads
  clock: EngineClock
}

/** Who the engine notes as the author of what we do: no host, no process. */
export const IDENTITY = 'portico'

/** The engine's form of a reference; no run id: the latest run. */
export function toExecution({ workflowId, runId = '' }: ExecutionRef): temporal.api.common.v1.IWorkflowExecution {
  return { workflowId, runId }
}

/** What every refusal about this execution carries. */
export function executionIds({ workflowId, runId }: ExecutionRef): ErrorFacts {
  return runId === undefined ? { workflowId } : { workflowId, runId }
}
