import type { Call } from '../model/call.ts'
import type { Ports } from '../model/ports.ts'
import type { ResetCommand, ResetRun } from '../model/workflows.ts'
import { rejectCatalog } from './catalog-guard.ts'

/** Not repeated for the next run of the chain: the step is one of the run that was the latest. */
export async function reset(
  { engine, knownRuns }: Pick<Ports, 'engine' | 'knownRuns'>,
  { ref, target, reason }: ResetCommand,
  call: Call,
): Promise<ResetRun> {
  const run = await engine.describe(ref, call)
  rejectCatalog(run)
  const { workflowId, workflowName, catalog, pinnedVersion } = run
  const { runId, runsAgain } = await engine.reset(run, { target, reason }, call)
  // Messages to the workflow id now reach another run than the one that is remembered, which may be closed.
  knownRuns.add({ workflowId, runId, workflowName, catalog, pinnedVersion })
  return { workflowId, runId, runsAgain }
}
