import { v7 as uuidv7 } from 'uuid'
import type { Accepted } from './accept.ts'
import type { Call } from './call.ts'
import type { Engine, Started } from './engine.ts'
import type { StartCommand } from './workflows.ts'

/** Starts what `accept` has let through, under its canonical name; an id it is not given sorts by time. */
export function startAccepted(engine: Engine, command: StartCommand, { workflowName }: Accepted, call: Call): Promise<Started> {
  const { workflowId = uuidv7(), catalog, input } = command
  return engine.start({ workflowId, workflowName, catalog, input }, call)
}
