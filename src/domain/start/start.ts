import type { RunRef } from '../../protocol/run-ref.ts'
import { type AdmitStartPorts, type AdmittedStart, admitStart } from '../admission/admit-start.ts'
import type { Call } from '../call.ts'
import type { Engine, Started, StartRequest } from '../engine.ts'
import { newId } from '../new-id.ts'
import type { Ports } from '../ports.ts'
import type { StartCommand } from '../workflows.ts'

export async function start(
  ports: AdmitStartPorts & Pick<Ports, 'engine'>,
  command: StartCommand,
  call: Call,
): Promise<RunRef> {
  const admitted = await admitStart(ports, command, call)
  const { workflowId, runId } = await startAdmitted(ports.engine, command, admitted, call)
  return { workflowId, runId }
}

export function startAdmitted(
  engine: Engine,
  command: StartCommand,
  admitted: AdmittedStart,
  call: Call,
): Promise<Started> {
  return engine.start(toStartRequest(command, admitted), call)
}

/** The request for the canonical workflow name, with a new id when the command has none. */
export function toStartRequest(
  { workflowId = newId(), catalog, args }: StartCommand,
  { workflowName }: AdmittedStart,
): StartRequest {
  return { workflowId, workflowName, catalog, args }
}
