import { admitWithStart } from '../admission/admit-message.ts'
import { admitStart } from '../admission/admit-start.ts'
import { type Call, withTimeout } from '../call.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { StartedUpdate } from '../engine.ts'
import { newId } from '../new-id.ts'
import type { Ports } from '../ports.ts'
import { assertSupported } from '../supported-feature.ts'
import type { UpdateWithStartCommand } from '../workflows.ts'
import { toStartRequest } from './start.ts'

/** Updates the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function updateWithStart(
  ports: Omit<Ports, 'traceMaxBytes' | 'traceSources'>,
  { start, update }: UpdateWithStartCommand,
  call: Call,
): Promise<StartedUpdate> {
  const { engine, deployment, messageTimeoutMs } = ports
  assertSupported(deployment.features, 'updateWithStart')
  const request = toStartRequest(start, await admitStart(ports, start, call))
  // After the catalog was read: the id may be that of the catalog itself.
  rejectOlderCatalog(ports, request)
  const target = { ...start, workflowName: request.workflowName }
  await admitWithStart(ports, { kind: 'update', start: target, message: update }, call)
  return engine.updateWithStart(request, update, newId(), withTimeout(call, messageTimeoutMs))
}
