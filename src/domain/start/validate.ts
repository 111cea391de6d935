import { admitStart } from '../admission/admit-start.ts'
import type { Call } from '../model/call.ts'
import type { StartCommand } from '../model/workflows.ts'
import { rejectStartOfCatalog, type StartPorts, toStartRequest, withKeyedId } from './start.ts'

/** Every check of a start that comes before it is sent to the engine. */
export async function validate(ports: StartPorts, command: StartCommand, call: Call): Promise<void> {
  const { idempotencyKey } = command
  const keyed = idempotencyKey === undefined ? command : await withKeyedId(command, idempotencyKey)
  const request = toStartRequest(keyed, await admitStart(ports, keyed, call))
  rejectStartOfCatalog(ports, request)
  await ports.engine.checkStart(request, call)
}
