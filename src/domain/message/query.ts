import { admitMessage } from '../admission/admit-message.ts'
import { type Call, withTimeout } from '../model/call.ts'
import type { Ports } from '../model/ports.ts'
import type { SendCommand } from '../model/workflows.ts'

/** A query changes nothing, so that it may also be sent to a catalog. */
export async function query(
  ports: Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'messageTimeoutMs'>,
  { ref, message }: SendCommand,
  call: Call,
): Promise<unknown> {
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  await admitMessage(ports, { kind: 'query', ref, message }, messageCall)
  return ports.engine.query(ref, message, messageCall)
}
