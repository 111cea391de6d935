import { admitWithStart } from '../admission/admit-message.ts'
import { admitStart } from '../admission/admit-start.ts'
import type { Call } from '../call.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { SignaledRun } from '../engine.ts'
import type { Ports } from '../ports.ts'
import type { SignalWithStartCommand } from '../workflows.ts'
import { toStartRequest } from './start.ts'

/** Signals the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function signalWithStart(
  ports: Pick<Ports, 'catalogs' | 'deployment' | 'engine' | 'knownRuns' | 'now'>,
  { start, signal }: SignalWithStartCommand,
  call: Call,
): Promise<SignaledRun> {
  const request = toStartRequest(start, await admitStart(ports, start, call))
  // After the catalog was read: the id may be that of the catalog itself.
  rejectOlderCatalog(ports, request)
  const target = { ...start, workflowName: request.workflowName }
  await admitWithStart(ports, { kind: 'signal', start: target, message: signal }, call)
  return ports.engine.signalWithStart(request, signal, call)
}
