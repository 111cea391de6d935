import { newId } from '../../shared/lib/new-id.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import { withStage } from '../messages/overdue-update.ts'
import { type Call, withTimeout } from '../model/call.ts'
import type { UpdateWithStartCommand, WithStart } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { EngineStart, StartedUpdate } from '../model/engine.ts'
import { hasErrorName, idInUse } from '../model/errors.ts'
import { toStartKey, updateIdOf } from '../model/keyed-id.ts'
import { assertSupported } from '../model/supported-feature.ts'
import type { Ports } from '../ports.ts'
import { admitStartWith } from './admit-start.ts'
import { type OnceForKey, sendOnce, withKeyedId } from './send-once.ts'

type UpdatedRun = WithStart<StartedUpdate>
type UpdateWithStartPorts = Omit<Ports, 'traceMaxBytes' | 'traceSources'>

/** Updates the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function updateWithStart(
  ports: UpdateWithStartPorts,
  command: UpdateWithStartCommand,
  call: Call,
): Promise<UpdatedRun> {
  assertSupported(ports.deployment.features, 'updateWithStart')
  const { idempotencyKey } = command.start
  if (idempotencyKey !== undefined) return updateWithStartOnce(ports, command, idempotencyKey, call)
  const admitted = { kind: 'update', start: command.start, message: command.update } as const
  const { request } = await admitStartWith(ports, admitted, call)
  const updateCall = withTimeout(call, ports.messageTimeoutMs)
  try {
    return await ports.engine.updateWithStart(request, command.update, newId(), updateCall)
  } catch (error) {
    throw await withStage(ports, command.update.name, error, call)
  }
}

async function updateWithStartOnce(
  ports: UpdateWithStartPorts,
  { start, update }: UpdateWithStartCommand,
  idempotencyKey: string,
  call: Call,
): Promise<UpdatedRun> {
  const { engine, messageTimeoutMs } = ports
  const updateId = await updateIdOf(idempotencyKey, update.name)
  const startKey = await toStartKey(idempotencyKey, start, { ...update, id: updateId })
  const keyed = withKeyedId(start, startKey)
  const { workflowId } = keyed
  const updateCall = () => withTimeout(call, messageTimeoutMs)
  const once: OnceForKey<UpdatedRun> = {
    conflictPolicy: start.options?.workflowIdConflictPolicy ?? 'use-existing',
    admit: () => admitStartWith(ports, { kind: 'update', start: keyed, message: update }, call),
    async send({ request }) {
      const result = await engine.updateWithStart(request, update, updateId, updateCall())
      // A run that has the update already returns its result, whatever the policy is. After the error, `sendOnce`
      // checks which request has started that run.
      if (result.started || usesExistingRun(request)) return result
      throw idInUse({ workflowId: result.workflowId, runId: result.runId })
    },
    // It may have the update already, and if it ends now, no other run must get it too.
    async sendTo({ runId, workflowName, status }, { request }) {
      if (!usesExistingRun(request) || request.objectionTo?.(workflowName)) return null
      const repeated = isOpen(status) ? {} : ({ isRepeated: true } as const)
      try {
        const result = await engine.update({ workflowId, runId }, update, updateId, updateCall())
        return { workflowId, runId, started: false, result, ...repeated }
      } catch (error) {
        if (wasNotReceived(error)) return null
        throw error
      }
    },
    // The first run of the chain received the update when it was started. A later run must not receive it again.
    async ofRepeated({ firstRunId: runId }) {
      const result = await engine.update({ workflowId, runId }, update, updateId, updateCall())
      return { workflowId, runId, started: true, result, isRepeated: true }
    },
  }
  // Longer than one update: the first attempt may wait for the handler of an earlier request before the run is
  // described.
  const onceCall = withTimeout(call, messageTimeoutMs + TIMEOUT_MS.describe)
  return sendOnce(engine, { workflowId, startKey }, once, onceCall)
}

/** The run had ended before. An error with the id of the update says that the run had received it. */
function wasNotReceived(error: unknown): boolean {
  return hasErrorName(error, 'WorkflowNotRunningError', 'WorkflowNotFoundError') && error.details.updateId === undefined
}

function usesExistingRun({ options }: EngineStart): boolean {
  return (options?.workflowIdConflictPolicy ?? 'use-existing') === 'use-existing'
}
