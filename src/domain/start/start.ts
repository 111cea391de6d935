import { type AdmitStartPorts, type AdmittedStart, admitStart } from '../admission/admit-start.ts'
import type { Call } from '../call.ts'
import type { Engine, StartedRun, StartRequest } from '../engine.ts'
import { newId } from '../new-id.ts'
import type { Ports } from '../ports.ts'
import type { RunStart, StartCommand } from '../workflows.ts'

export async function start(
  ports: AdmitStartPorts & Pick<Ports, 'engine'>,
  command: StartCommand,
  call: Call,
): Promise<RunStart> {
  const admitted = await admitStart(ports, command, call)
  const { firstRunId: _, ...run } = await startAdmitted(ports.engine, command, admitted, call)
  return run
}

export function startAdmitted(
  engine: Engine,
  command: StartCommand,
  admitted: AdmittedStart,
  call: Call,
): Promise<StartedRun> {
  return engine.start(toStartRequest(command, admitted), call)
}

/** The request for the canonical workflow name, with a new id when the command has none. */
export function toStartRequest(
  { workflowId = newId(), catalog, args, options }: StartCommand,
  { workflowName }: AdmittedStart,
): StartRequest {
  return { workflowId, workflowName, catalog, args, ...(options && { options }) }
}
