import { admitMessage } from '../admission/admit-message.ts'
import { assertUnusedId } from '../admission/unused-id.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { Call } from '../model/call.ts'
import { signalIdOf } from '../model/keyed-id.ts'
import type { Ports } from '../model/ports.ts'
import type { SendCommand, SignalAccepted } from '../model/workflows.ts'

export async function signal(
  ports: Pick<Ports, 'catalogs' | 'engine' | 'knownRuns'>,
  { ref, message, idempotencyKey }: SendCommand,
  call: Call,
): Promise<SignalAccepted> {
  rejectOlderCatalog(ports, ref)
  const warnings = await admitMessage(ports, { kind: 'signal', ref, message }, call)
  const requestId = idempotencyKey && (await signalIdOf(idempotencyKey, message.name))
  if (requestId) await assertUnusedId(ports, ref, requestId, call)
  return {
    workflowId: ref.workflowId,
    ...(await ports.engine.signal(ref, { ...message, ...(requestId && { requestId }) }, call)),
    warnings,
  }
}
