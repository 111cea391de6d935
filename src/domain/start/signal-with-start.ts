import { admitWithStart } from '../admission/admit-message.ts'
import { admitStart } from '../admission/admit-start.ts'
import type { Call } from '../call.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import type { SignaledRun, StartRequest } from '../engine.ts'
import { keyedId } from '../keyed-id.ts'
import type { Ports } from '../ports.ts'
import type { SignalWithStartCommand, WithStart } from '../workflows.ts'
import { toStartRequest, withKeyedId } from './start.ts'
import { toStartKey } from './start-key.ts'
import { findRepeated, type RepeatedRun, toProtocolMemo, withRetryAfter } from './start-once.ts'

type SignalWithStartPorts = Pick<Ports, 'catalogs' | 'deployment' | 'engine' | 'knownRuns' | 'now'>

/** Signals the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function signalWithStart(
  ports: SignalWithStartPorts,
  command: SignalWithStartCommand,
  call: Call,
): Promise<WithStart<SignaledRun>> {
  const { idempotencyKey } = command.start
  if (idempotencyKey !== undefined) return signalWithStartOnce(ports, command, idempotencyKey, call)
  return ports.engine.signalWithStart(await admit(ports, command, call), command.signal, call)
}

/** The engine cannot start only under an unused id and signal in one step, so that the id is read before. */
async function signalWithStartOnce(
  ports: SignalWithStartPorts,
  { start, signal }: SignalWithStartCommand,
  idempotencyKey: string,
  call: Call,
): Promise<WithStart<SignaledRun>> {
  const { engine } = ports
  const keyed = await withKeyedId(start, idempotencyKey)
  const startKey = await toStartKey(idempotencyKey, start, signal)
  const id = { workflowId: keyed.workflowId, startKey }
  const before = await findRepeated(engine, id, call)
  if (before !== null) return toSignaledRun(before)
  const request = await admit(ports, { start: keyed, signal }, call)
  // The id of the start and of the signal: a run receives the signal once.
  const requestId = await keyedId(idempotencyKey)
  const sent = { ...request, protocolMemo: toProtocolMemo(startKey), requestId }
  const run = await engine.signalWithStart(sent, signal, call).catch((error) => {
    throw withRetryAfter(error, id)
  })
  // Another request with the key may have started it at the same time.
  const repeated = run.started ? null : await findRepeated(engine, id, call)
  return repeated === null ? run : toSignaledRun(repeated)
}

/** The run has received the signal when it was started. */
function toSignaledRun({ workflowId, firstRunId: runId }: RepeatedRun): WithStart<SignaledRun> {
  return { workflowId, runId, started: true, isRepeated: true }
}

async function admit(
  ports: SignalWithStartPorts,
  { start, signal }: SignalWithStartCommand,
  call: Call,
): Promise<StartRequest> {
  const request = toStartRequest(start, await admitStart(ports, start, call))
  // After the catalog was read: the id may be that of the catalog itself.
  rejectOlderCatalog(ports, request)
  const target = { ...start, workflowName: request.workflowName }
  await admitWithStart(ports, { kind: 'signal', start: target, message: signal }, call)
  return request
}
