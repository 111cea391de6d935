import { admitMessage } from '../admission/admit-message.ts'
import { assertUnusedId } from '../admission/unused-id.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { type Call, withTimeout } from '../model/call.ts'
import type { UpdateRef } from '../model/engine.ts'
import { updateIdOf } from '../model/keyed-id.ts'
import type { Ports } from '../model/ports.ts'
import { assertSupported } from '../model/supported-feature.ts'
import type { SendCommand } from '../model/workflows.ts'

export async function startUpdate(
  ports: Pick<Ports, 'catalogs' | 'deployment' | 'engine' | 'knownRuns' | 'messageTimeoutMs'>,
  { ref, message, idempotencyKey }: SendCommand,
  call: Call,
): Promise<UpdateRef> {
  assertSupported(ports.deployment.features, 'asyncUpdates')
  rejectOlderCatalog(ports, ref)
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  await admitMessage(ports, { kind: 'update', ref, message }, messageCall)
  const updateId = await updateIdOf(idempotencyKey, message.name)
  if (idempotencyKey !== undefined) await assertUnusedId(ports, ref, updateId, messageCall)
  return ports.engine.startUpdate(ref, message, updateId, messageCall)
}
