/** The requests of a soak, and what the responses said. */
import { percentile } from '../../dev/percentiles.ts'

export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the check of a reply says what it should be
  body: any
  text: string
}

/** A message that must arrive at most once, and exactly once if it was acknowledged. */
export interface SentMessage {
  kind: 'signal' | 'update'
  /** Unique, so that it can be found in the history. */
  value: string
  acknowledged: boolean
}

/** A workflow id of a soak. Each is meant for one chain of runs. */
export interface WorkflowRecord {
  workflowId: string
  /** Run ids in responses to its start. All must name the same run. */
  startedRunIds: Set<string>
  messages: SentMessage[]
  /** The last status that a response said is final; null while none did. */
  finalStatus: string | null
  /** The client reset it, so it has more than one chain. */
  isReset: boolean
}

export interface Ledger {
  workflows: WorkflowRecord[]
  addWorkflow(workflowId: string): WorkflowRecord
  /** Counts a response, or `lost` if none came. */
  count(endpoint: string, outcome: number | 'left' | 'lost', ms: number): void
  /** Something that must never happen. */
  violate(what: string): void
  rows(): { endpoint: string; outcomes: Map<number | 'left' | 'lost', number>; p50Ms: number; p99Ms: number }[]
  violations: readonly string[]
}

interface Endpoint {
  outcomes: Map<number | 'left' | 'lost', number>
  ms: number[]
}

export function createLedger(): Ledger {
  const workflows: WorkflowRecord[] = []
  const violations: string[] = []
  const endpoints = new Map<string, Endpoint>()
  return {
    workflows,
    violations,
    addWorkflow(workflowId) {
      const workflow: WorkflowRecord = {
        workflowId,
        startedRunIds: new Set(),
        messages: [],
        finalStatus: null,
        isReset: false,
      }
      workflows.push(workflow)
      return workflow
    },
    count(endpoint, outcome, ms) {
      const entry: Endpoint = endpoints.get(endpoint) ?? { outcomes: new Map(), ms: [] }
      endpoints.set(endpoint, entry)
      entry.outcomes.set(outcome, (entry.outcomes.get(outcome) ?? 0) + 1)
      entry.ms.push(ms)
    },
    violate: (what) => void violations.push(what),
    rows() {
      const sorted = [...endpoints].toSorted(([one], [other]) => one.localeCompare(other))
      return sorted.map(([endpoint, { outcomes, ms }]) => ({
        endpoint,
        outcomes,
        p50Ms: percentile(ms, 0.5),
        p99Ms: percentile(ms, 0.99),
      }))
    },
  }
}
