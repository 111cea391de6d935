import { type AdmissionPorts, admitUpdateWithStart } from '../admission/admit-message.ts'
import { accept } from '../admission/admit-start.ts'
import { type Call, within } from '../call.ts'
import { catalogRun } from '../control/stop.ts'
import type { Engine, EngineFeatures, StartedUpdate } from '../engine.ts'
import { ServiceError } from '../errors.ts'
import type { MessageCommand, StartCommand } from '../workflows.ts'
import { toStartRequest } from './start.ts'

export interface UpdateWithStartPorts extends AdmissionPorts {
  engine: Engine
  features: Pick<EngineFeatures, 'updateWithStart'>
  /** How long the update may wait for a worker. */
  messageTimeoutMs: number
}

/** The open run of that id is updated whatever its workflow is; the name counts where one has to be started. */
export async function updateWithStart(
  { engine, catalogs, knownRuns, features, messageTimeoutMs }: UpdateWithStartPorts,
  command: StartCommand,
  message: MessageCommand,
  updateId: string,
  call: Call,
): Promise<StartedUpdate> {
  assertSupported(features)
  const request = toStartRequest(command, await accept(catalogs, command, call))
  // Asked when the catalog has been read: it may be that catalog's own run.
  if (catalogs.isOlderForm(request.workflowId)) throw catalogRun(request)
  await admitUpdateWithStart({ catalogs, knownRuns }, { ...command, workflowName: request.workflowName }, message, call)
  return engine.updateWithStart(request, message, updateId, within(call, messageTimeoutMs))
}

function assertSupported({ updateWithStart }: Pick<EngineFeatures, 'updateWithStart'>): void {
  if (updateWithStart.supported) return
  throw new ServiceError(
    'NotSupportedError',
    `Update-with-start is not supported: ${updateWithStart.reason} (GET /capabilities: updateWithStart)`,
  )
}
