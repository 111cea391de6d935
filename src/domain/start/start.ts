import { type AdmitStartPorts, type AdmittedStart, admitStart } from '../admission/admit-start.ts'
import type { Call } from '../call.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { StartedRun, StartRequest } from '../engine.ts'
import { newId } from '../new-id.ts'
import type { Ports } from '../ports.ts'
import type { RunStart, StartCommand } from '../workflows.ts'

export async function start(
  ports: AdmitStartPorts & Pick<Ports, 'engine'>,
  command: StartCommand,
  call: Call,
): Promise<RunStart> {
  const admitted = await admitStart(ports, command, call)
  const { firstRunId: _, ...run } = await startAdmitted(ports, command, admitted, call)
  return run
}

export function startAdmitted(
  ports: Pick<Ports, 'catalogs' | 'engine'>,
  command: StartCommand,
  admitted: AdmittedStart,
  call: Call,
): Promise<StartedRun> {
  const request = toStartRequest(command, admitted)
  const { workflowIdConflictPolicy = 'fail' } = request.options ?? {}
  // After the catalog was read: the id may be that of the catalog itself, which `fail` leaves alone.
  if (workflowIdConflictPolicy !== 'fail') rejectOlderCatalog(ports, request)
  return ports.engine.start(request, call)
}

/** The request for the canonical workflow name, with a new id when the command has none. */
export function toStartRequest(
  { workflowId = newId(), catalog, args, options }: StartCommand,
  { workflowName }: AdmittedStart,
): StartRequest {
  return { workflowId, workflowName, catalog, args, ...(options && { options }) }
}
