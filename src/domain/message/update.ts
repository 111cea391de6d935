import { admitMessage } from '../admission/admit-message.ts'
import { assertUnusedId } from '../admission/unused-id.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { updateIdOf } from '../model/keyed-id.ts'
import type { Ports } from '../model/ports.ts'
import type { SendCommand } from '../model/workflows.ts'

export async function update(
  ports: Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'messageTimeoutMs'>,
  { ref, message, idempotencyKey }: SendCommand,
  call: Call,
): Promise<unknown> {
  rejectOlderCatalog(ports, ref)
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  await admitMessage(ports, { kind: 'update', ref, message }, messageCall)
  const updateId = await updateIdOf(idempotencyKey, message.name)
  if (idempotencyKey !== undefined) await assertUnusedId(ports, ref, updateId, messageCall)
  return ports.engine.update(ref, message, updateId, messageCall)
}
