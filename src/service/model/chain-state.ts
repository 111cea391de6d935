import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Call } from './call.ts'
import type { ServiceError } from './errors.ts'
import type { WorkflowResult } from './execution.ts'
import type { Reason } from './explanation.ts'

/** The state of a chain: a run, and the runs that continue it (continue-as-new, engine retry, cron, reset). */
export type ChainState = OpenChain | EndedChain | UnreadableChain

/** The ids are those of the last run. */
interface ChainFacts extends RunRef {
  workflowName: string
  catalog: string
  /** When the first run started; when the last one did, if that is not known. */
  startedAt: Date | null
}

export interface OpenChain extends ChainFacts {
  kind: 'open'
  /** The memo field `$asks`, as workflow code has written it; undefined without one. */
  asks: unknown
  /**
   * The first of the reasons that `explain` returns; null if it cannot be read. What it says about polls of workers is
   * at most 5 s old.
   */
  explain(call: Call): Promise<Reason | null>
}

export interface EndedChain extends ChainFacts {
  kind: 'ended'
  endedAt: Date | null
  /** Without the input and the location of the trace, which are null. */
  result: WorkflowResult
}

/** An ended chain whose output is stored outside the engine. */
export interface UnreadableChain extends ChainFacts {
  kind: 'unreadable'
  endedAt: Date | null
  error: ServiceError
}
