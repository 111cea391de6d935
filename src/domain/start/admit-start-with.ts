import { admitWithStart } from '../admission/admit-message.ts'
import { admitStart } from '../admission/admit-start.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { Call } from '../model/call.ts'
import type { StartRequest } from '../model/engine.ts'
import type { Ports } from '../model/ports.ts'
import type { MessageCommand, StartCommand } from '../model/workflows.ts'
import { toStartRequest } from './start.ts'

export interface StartWithMessage {
  kind: 'signal' | 'update'
  start: StartCommand
  message: MessageCommand
}

/** Validates a start and the message that goes with it. Returns warnings about the message. */
export async function admitStartWith(
  ports: Pick<Ports, 'catalogs' | 'deployment' | 'engine' | 'knownRuns' | 'now'>,
  { kind, start, message }: StartWithMessage,
  call: Call,
): Promise<{ request: StartRequest; warnings: string[] }> {
  const request = toStartRequest(start, await admitStart(ports, start, call))
  // Only possible after the catalog was read: the id may be that of the catalog itself.
  rejectOlderCatalog(ports, request)
  const target = { ...start, workflowName: request.workflowName }
  const warnings = await admitWithStart(ports, { kind, start: target, message }, call)
  return { request, warnings }
}
