import { isOpen } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Call } from '../model/call.ts'
import type { SignaledWithStart, SignalWithStartCommand } from '../model/commands.ts'
import type { Signal } from '../model/engine.ts'
import { hasErrorName } from '../model/errors.ts'
import { signalIdOf, toStartKey } from '../model/keyed-id.ts'
import type { Ports } from '../ports.ts'
import { admitStartWith } from './admit-start.ts'
import { findRepeated, keyedStart, type RepeatedRun, withKeyedId, withRetryAfter } from './start.ts'

type SignalWithStartPorts = Pick<Ports, 'catalogs' | 'deployment' | 'engine' | 'knownRuns' | 'now' | 'searchAttributes'>

/** Signals the open run of the workflow id, whatever its workflow is. The workflow name only counts for a new run. */
export async function signalWithStart(
  ports: SignalWithStartPorts,
  command: SignalWithStartCommand,
  call: Call,
): Promise<SignaledWithStart> {
  const { start, signal } = command
  if (start.idempotencyKey !== undefined) return signalWithStartOnce(ports, command, start.idempotencyKey, call)
  const { request, warnings } = await admitStartWith(ports, { kind: 'signal', start, message: signal }, call)
  return { ...(await ports.engine.signalWithStart(request, signal, call)), warnings }
}

/** The engine has no signal-with-start that requires an unused id, so the latest run of the id is read first. */
async function signalWithStartOnce(
  ports: SignalWithStartPorts,
  { start, signal }: SignalWithStartCommand,
  idempotencyKey: string,
  call: Call,
): Promise<SignaledWithStart> {
  const { engine } = ports
  // The request id of the start and of the signal: a run receives the signal once.
  const requestId = await signalIdOf(idempotencyKey, signal.name)
  const startKey = await toStartKey(idempotencyKey, start, { ...signal, id: requestId })
  const keyed = withKeyedId(start, startKey)
  const id = { workflowId: keyed.workflowId, startKey }
  const before = await findRepeated(engine, id, call)
  if ('repeated' in before) {
    const { repeated } = before
    // The signal was sent after the start, and may be missing.
    if (start.objectionTo !== undefined)
      await hasSignal(
        engine,
        { workflowId: repeated.workflowId, runId: repeated.firstRunId },
        { ...signal, requestId },
        call,
      )
    return toSignaledRun(repeated)
  }
  const { other } = before
  const takesSignal = async ({ workflowId, runId }: RunRef) =>
    hasSignal(engine, { workflowId, runId }, { ...signal, requestId }, call).catch((error) => {
      throw withRetryAfter(error, id)
    })
  const ofOther = { workflowId: keyed.workflowId, runId: other?.runId ?? '', started: false }
  if (other !== null && !isOpen(other.status) && (await takesSignal(other)))
    return { ...ofOther, isRepeated: true, warnings: [] }
  const admitted = await admitStartWith(ports, { kind: 'signal', start: keyed, message: signal }, call)
  const { warnings } = admitted
  // Exactly this run: it may have the signal already, and if it ends now, no other run must get it too.
  if (other !== null && isOpen(other.status) && start.objectionTo === undefined && (await takesSignal(other)))
    return { ...ofOther, warnings }
  const { request } = keyedStart(admitted, startKey, requestId)
  const run = await engine.signalWithStart(request, signal, call).catch((error) => {
    throw withRetryAfter(error, id)
  })
  if (run.started) return { ...run, warnings }
  // Another request with the key may have started it at the same time.
  const found = await findRepeated(engine, id, call).catch((error) => {
    if (hasErrorName(error, 'IdempotencyKeyReusedError')) throw error
    // The signal was delivered, so this request must not fail.
    return null
  })
  return found !== null && 'repeated' in found ? toSignaledRun(found.repeated) : { ...run, warnings }
}

/** Sends the signal to the run. False if the run has ended without it: the engine still recognizes its request id. */
async function hasSignal(
  engine: SignalWithStartPorts['engine'],
  run: RunRef,
  signal: Signal,
  call: Call,
): Promise<boolean> {
  try {
    await engine.signal(run, signal, call)
    return true
  } catch (error) {
    if (hasErrorName(error, 'WorkflowNotRunningError', 'WorkflowNotFoundError')) return false
    throw error
  }
}

/** The run has received the signal when it was started. */
function toSignaledRun({ workflowId, firstRunId: runId }: RepeatedRun): SignaledWithStart {
  return { workflowId, runId, started: true, isRepeated: true, warnings: [] }
}
