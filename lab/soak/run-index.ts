import type { RecordedRun } from './record.ts'

/** The runs of a recording, by the ids that the checks look them up with. */
export interface RunIndex {
  runs: readonly RecordedRun[]
  byId(runId: string): RecordedRun | undefined
  ofWorkflow(workflowId: string): readonly RecordedRun[]
  /** The first run first. */
  chain(firstRunId: string): readonly RecordedRun[]
}

export function indexRuns(runs: readonly RecordedRun[]): RunIndex {
  const sorted = runs.toSorted((one, other) => one.startedAt - other.startedAt)
  const byId = new Map(sorted.map((run) => [run.runId, run]))
  const byWorkflow = Map.groupBy(sorted, ({ workflowId }) => workflowId)
  const byChain = Map.groupBy(sorted, ({ firstRunId }) => firstRunId)
  return {
    runs: sorted,
    byId: (runId) => byId.get(runId),
    ofWorkflow: (workflowId) => byWorkflow.get(workflowId) ?? [],
    chain: (firstRunId) => byChain.get(firstRunId) ?? [],
  }
}
