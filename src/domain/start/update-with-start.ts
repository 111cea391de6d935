import { newId } from '../../lib/new-id.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { StartedUpdate, StartRequest } from '../model/engine.ts'
import { idInUse } from '../model/errors.ts'
import { toStartKey, updateIdOf } from '../model/keyed-id.ts'
import type { Ports } from '../model/ports.ts'
import { assertSupported } from '../model/supported-feature.ts'
import type { UpdateWithStartCommand, WithStart } from '../model/workflows.ts'
import { admitStartWith } from './admit-start-with.ts'
import { withKeyedId } from './start.ts'
import { startOnce, withRetryAfter } from './start-once.ts'

type UpdateWithStartPorts = Omit<Ports, 'traceMaxBytes' | 'traceSources'>

/** Updates the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function updateWithStart(
  ports: UpdateWithStartPorts,
  command: UpdateWithStartCommand,
  call: Call,
): Promise<WithStart<StartedUpdate>> {
  assertSupported(ports.deployment.features, 'updateWithStart')
  const { idempotencyKey } = command.start
  if (idempotencyKey !== undefined) return updateWithStartOnce(ports, command, idempotencyKey, call)
  const admitted = { kind: 'update', start: command.start, message: command.update } as const
  const { request } = await admitStartWith(ports, admitted, call)
  return ports.engine.updateWithStart(request, command.update, newId(), withTimeout(call, ports.messageTimeoutMs))
}

async function updateWithStartOnce(
  ports: UpdateWithStartPorts,
  { start, update }: UpdateWithStartCommand,
  idempotencyKey: string,
  call: Call,
): Promise<WithStart<StartedUpdate>> {
  const { engine, messageTimeoutMs } = ports
  const updateId = await updateIdOf(idempotencyKey, update.name)
  const startKey = await toStartKey(idempotencyKey, start, { ...update, id: updateId })
  const keyed = withKeyedId(start, startKey)
  const { workflowId } = keyed
  const updateCall = () => withTimeout(call, messageTimeoutMs)
  let request: StartRequest | null = null
  const once = {
    workflowId,
    startKey,
    conflictPolicy: start.options?.workflowIdConflictPolicy ?? 'use-existing',
    async send(change: (request: StartRequest) => StartRequest): Promise<StartedUpdate> {
      request ??= (await admitStartWith(ports, { kind: 'update', start: keyed, message: update }, call)).request
      const sent = change(request)
      const result = await engine.updateWithStart(sent, update, updateId, updateCall())
      // A run that has the update already returns its result, whatever the policy is. After the error, `startOnce`
      // checks which request has started that run.
      if (result.started || usesExistingRun(sent)) return result
      throw idInUse({ workflowId: result.workflowId, runId: result.runId })
    },
  }
  // Longer than one update: the first attempt may wait for the handler of an earlier request before the run is
  // described.
  const outcome = await startOnce(engine, once, withTimeout(call, messageTimeoutMs + TIMEOUT_MS.describe))
  if ('result' in outcome) return outcome.result
  // The first run of the chain received the update when it was started. A later run must not receive it again.
  const { firstRunId: runId } = outcome.repeated
  const result = await engine.update({ workflowId, runId }, update, updateId, updateCall()).catch((error) => {
    throw withRetryAfter(error, once)
  })
  return { workflowId, runId, started: true, result, isRepeated: true }
}

function usesExistingRun({ options }: StartRequest): boolean {
  return (options?.workflowIdConflictPolicy ?? 'use-existing') === 'use-existing'
}
