import type { Call } from '../model/call.ts'
import { hasErrorName } from '../model/errors.ts'
import type { Description, ExecutionRef } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import { rejectCatalog } from './catalog-guard.ts'

/**
 * Describes the run that `ref` names, and calls `act` with it.
 *
 * When an unpinned run is closed in between, it may have continued as a new run: both happen once more.
 */
export async function onLatestRun<T>(
  { engine }: Pick<Ports, 'engine'>,
  ref: ExecutionRef,
  call: Call,
  act: (run: Description) => Promise<T>,
): Promise<T> {
  const attempt = async () => {
    const run = await engine.describe(ref, call)
    rejectCatalog(run)
    return act(run)
  }
  try {
    return await attempt()
  } catch (error) {
    if (ref.runId !== undefined || !wasClosedMeanwhile(error)) throw error
    return attempt()
  }
}

/** Only the engine's own rejection has a cause. A run that was described as closed has no successor to look up. */
function wasClosedMeanwhile(error: unknown): boolean {
  return hasErrorName(error, 'WorkflowNotRunningError') && error.cause !== undefined
}
