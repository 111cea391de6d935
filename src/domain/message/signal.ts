import { admitMessage } from '../admission/admit-message.ts'
import type { Call } from '../call.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { Ports } from '../ports.ts'
import type { SendCommand, SignalAccepted } from '../workflows.ts'

export async function signal(
  ports: Pick<Ports, 'catalogs' | 'engine' | 'knownRuns'>,
  { ref, message }: SendCommand,
  call: Call,
): Promise<SignalAccepted> {
  rejectOlderCatalog(ports, ref)
  await admitMessage(ports, { kind: 'signal', ref, message }, call)
  return { workflowId: ref.workflowId, ...(await ports.engine.signal(ref, message, call)) }
}
