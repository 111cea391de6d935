import { newId } from '../../shared/lib/new-id.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { withStage } from '../messages/overdue-update.ts'
import { type Call, withTimeout } from '../model/call.ts'
import type { MessageCommand, UpdateWithStartCommand, WithStart } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { AcceptedUpdate, Engine, EngineStart, SignaledRun, StartedUpdate } from '../model/engine.ts'
import { hasErrorName, idInUse } from '../model/errors.ts'
import { toStartKey, updateIdOf } from '../model/keyed-id.ts'
import { assertSupported } from '../model/supported-feature.ts'
import type { Ports } from '../ports.ts'
import { admitStartWith } from './admit-start.ts'
import { type OnceForKey, sendOnce, withKeyedId } from './start.ts'

type UpdateWithStartPorts = Omit<Ports, 'traceMaxBytes' | 'traceSources'>

/** Updates the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function updateWithStart(
  ports: UpdateWithStartPorts,
  command: UpdateWithStartCommand,
  call: Call,
): Promise<WithStart<StartedUpdate>> {
  return send(ports, command, UNTIL_COMPLETED, call)
}

export async function startUpdateWithStart(
  ports: UpdateWithStartPorts,
  command: UpdateWithStartCommand,
  call: Call,
): Promise<WithStart<AcceptedUpdate>> {
  return send(ports, command, UNTIL_ACCEPTED, call)
}

type Update = [message: MessageCommand, updateId: string, call: Call]

/** What the response waits for. */
interface Wait<Sent> {
  withStart(engine: Engine, request: EngineStart, ...update: Update): Promise<SignaledRun & Sent>
  /** Sends the update to a run that was started before. */
  alone(engine: Engine, run: RunRef, ...update: Update): Promise<RunRef & Sent>
}

const UNTIL_COMPLETED: Wait<Pick<StartedUpdate, 'result'>> = {
  withStart: (engine, ...sent) => engine.updateWithStart(...sent),
  alone: async (engine, run, ...update) => ({ ...run, result: await engine.update(run, ...update) }),
}

const UNTIL_ACCEPTED: Wait<Pick<AcceptedUpdate, 'updateId'>> = {
  withStart: (engine, ...sent) => engine.startUpdateWithStart(...sent),
  alone: (engine, ...sent) => engine.startUpdate(...sent),
}

async function send<Sent>(
  ports: UpdateWithStartPorts,
  command: UpdateWithStartCommand,
  wait: Wait<Sent>,
  call: Call,
): Promise<WithStart<SignaledRun & Sent>> {
  assertSupported(ports.deployment.features, 'updateWithStart')
  const { idempotencyKey } = command.start
  if (idempotencyKey !== undefined) return sendWithKey(ports, command, idempotencyKey, wait, call)
  const admitted = { kind: 'update', start: command.start, message: command.update } as const
  const { request } = await admitStartWith(ports, admitted, call)
  const updateCall = withTimeout(call, ports.messageTimeoutMs)
  try {
    return await wait.withStart(ports.engine, request, command.update, newId(), updateCall)
  } catch (error) {
    throw await withStage(ports, command.update.name, error, call)
  }
}

async function sendWithKey<Sent>(
  ports: UpdateWithStartPorts,
  { start, update }: UpdateWithStartCommand,
  idempotencyKey: string,
  wait: Wait<Sent>,
  call: Call,
): Promise<WithStart<SignaledRun & Sent>> {
  const { engine, messageTimeoutMs } = ports
  const updateId = await updateIdOf(idempotencyKey, update.name)
  const startKey = await toStartKey(idempotencyKey, start, { ...update, id: updateId })
  const keyed = withKeyedId(start, startKey)
  const { workflowId } = keyed
  const updateCall = () => withTimeout(call, messageTimeoutMs)
  const once: OnceForKey<WithStart<SignaledRun & Sent>> = {
    conflictPolicy: start.options?.workflowIdConflictPolicy ?? 'use-existing',
    admit: () => admitStartWith(ports, { kind: 'update', start: keyed, message: update }, call),
    async send({ request }) {
      const result = await wait.withStart(engine, request, update, updateId, updateCall())
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
        const sent = await wait.alone(engine, { workflowId, runId }, update, updateId, updateCall())
        return { ...sent, started: false, ...repeated }
      } catch (error) {
        if (wasNotReceived(error)) return null
        throw error
      }
    },
    // The first run of the chain received the update when it was started. A later run must not receive it again.
    async ofRepeated({ firstRunId: runId }) {
      const sent = await wait.alone(engine, { workflowId, runId }, update, updateId, updateCall())
      return { ...sent, started: true, isRepeated: true }
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
