import { admitMessage } from '../admission/admit-message.ts'
import { type Call, withTimeout } from '../call.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { updateIdOf } from '../keyed-id.ts'
import type { Ports } from '../ports.ts'
import type { SendCommand } from '../workflows.ts'

export async function update(
  ports: Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'messageTimeoutMs'>,
  { ref, message, idempotencyKey }: SendCommand,
  call: Call,
): Promise<unknown> {
  rejectOlderCatalog(ports, ref)
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  await admitMessage(ports, { kind: 'update', ref, message }, messageCall)
  return ports.engine.update(ref, message, await updateIdOf(idempotencyKey, message.name), messageCall)
}
