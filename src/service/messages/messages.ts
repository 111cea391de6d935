/** Messages to a run: signals, queries and updates. */

import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { type Call, withTimeout } from '../model/call.ts'
import type { ReadUpdateCommand, SendCommand, SignalAccepted } from '../model/commands.ts'
import type { UpdateRef, UpdateState } from '../model/engine.ts'
import { signalIdOf, updateIdOf } from '../model/keyed-id.ts'
import { assertSupported } from '../model/supported-feature.ts'
import type { Ports } from '../ports.ts'
import { admitMessage } from './admit-message.ts'
import { withStage } from './overdue-update.ts'
import { assertUnusedId } from './unused-id.ts'

type MessagePorts = Pick<Ports, 'catalogs' | 'engine' | 'knownRuns'>
type AnsweredPorts = MessagePorts & Pick<Ports, 'deployment' | 'messageTimeoutMs'>

export async function signal(
  ports: MessagePorts,
  { ref, message, idempotencyKey }: SendCommand,
  call: Call,
): Promise<SignalAccepted> {
  rejectOlderCatalog(ports, ref)
  const warnings = await admitMessage(ports, { kind: 'signal', ref, message }, call)
  const requestId = idempotencyKey && (await signalIdOf(idempotencyKey, message.name))
  if (requestId) await assertUnusedId(ports, ref, requestId, call)
  const { runId } = await ports.engine.signal(ref, { ...message, ...(requestId && { requestId }) }, call)
  if (runId !== null) call.audit({ runId })
  return { workflowId: ref.workflowId, runId, warnings }
}

/** A query changes nothing, so it may also be sent to a catalog. */
export async function query(ports: AnsweredPorts, { ref, message }: SendCommand, call: Call): Promise<unknown> {
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  await admitMessage(ports, { kind: 'query', ref, message }, messageCall)
  return ports.engine.query(ref, message, messageCall)
}

export async function update(ports: AnsweredPorts, command: SendCommand, call: Call): Promise<unknown> {
  const { updateId, messageCall } = await admitUpdate(ports, command, call)
  const { ref, message, idempotencyKey } = command
  try {
    return await ports.engine.update(ref, message, updateId, messageCall)
  } catch (error) {
    throw idempotencyKey === undefined ? await withStage(ports, message.name, error, call) : error
  }
}

export async function startUpdate(ports: AnsweredPorts, command: SendCommand, call: Call): Promise<UpdateRef> {
  assertSupported(ports.deployment.features, 'asyncUpdates')
  const { updateId, messageCall } = await admitUpdate(ports, command, call)
  return ports.engine.startUpdate(command.ref, command.message, updateId, messageCall)
}

async function admitUpdate(
  ports: AnsweredPorts,
  { ref, message, idempotencyKey }: SendCommand,
  call: Call,
): Promise<{ updateId: string; messageCall: Call }> {
  rejectOlderCatalog(ports, ref)
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  await admitMessage(ports, { kind: 'update', ref, message }, messageCall)
  const updateId = await updateIdOf(idempotencyKey, message.name)
  if (idempotencyKey !== undefined) await assertUnusedId(ports, ref, updateId, messageCall)
  return { updateId, messageCall }
}

export async function readUpdate(
  { engine, deployment }: Pick<Ports, 'deployment' | 'engine'>,
  { ref, waitMs, ...update }: ReadUpdateCommand,
  call: Call,
): Promise<UpdateState> {
  assertSupported(deployment.features, 'asyncUpdates')
  return engine.pollUpdate(ref, update, waitMs, call)
}
