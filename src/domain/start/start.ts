import { v7 as uuidv7 } from 'uuid'
import type { Accepted } from '../admission/admit-start.ts'
import type { Call } from '../call.ts'
import type { Engine, Started, StartRequest } from '../engine.ts'
import type { StartCommand } from '../workflows.ts'

/** What `accept` has let through, under its canonical name; an id it is not given sorts by time. */
export function toStartRequest(
  { workflowId = uuidv7(), catalog, args }: StartCommand,
  { workflowName }: Accepted,
): StartRequest {
  return { workflowId, workflowName, catalog, args }
}

export function startAccepted(engine: Engine, command: StartCommand, accepted: Accepted, call: Call): Promise<Started> {
  return engine.start(toStartRequest(command, accepted), call)
}
