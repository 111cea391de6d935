/** Starts a workflow, and waits for its result or not. */
import { isOpen, toSingleValue } from '../../shared/wire/execution.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { addIds, attachIds } from '../model/attach-ids.ts'
import { type Call, withTimeout } from '../model/call.ts'
import type { RunCommand, RunStart, StartCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { EngineStart, StartedRun } from '../model/engine.ts'
import type { WorkflowResult } from '../model/execution.ts'
import { keyedId, toStartKey } from '../model/keyed-id.ts'
import type { Ports } from '../ports.ts'
import { endedResult, type KnownFields, type WaitPorts, waitForEnd } from '../runs/chain-end.ts'
import { readResult } from '../runs/result.ts'
import { type AdmitStartPorts, type AdmittedStart, admitStart } from './admit-start.ts'
import { type OnceForKey, type RepeatedRun, sendOnce, withKeyedId } from './send-once.ts'

/** Starts a workflow and waits for the end of its chain. Every error after the start carries the ids of the run. */
export async function run(ports: StartPorts & WaitPorts, command: RunCommand, call: Call): Promise<WorkflowResult> {
  const { timeoutMs: waitMs } = command
  const arrivedAt = Date.now()
  // An engine with many starts at once may need longer than other requests may take, and this client waits anyway.
  const startCall = { ...call, deadlineAt: Math.max(call.deadlineAt, arrivedAt + waitMs) }
  const start = await startOrRepeat(ports, command, call, startCall)
  call.startWaiting()
  command.onStarted?.(toRunStart(start))
  try {
    if ('repeated' in start && !isOpen(start.repeated.status)) return await readRepeated(ports, start.repeated, call)
    const { workflowId, runId } = 'started' in start ? start.started : start.repeated
    const ended = await waitForEnd(ports, { run: { workflowId, runId }, followsChain: true, arrivedAt, waitMs }, call)
    return await endedResult(ports, ended, knownFields(command, start), call)
  } catch (error) {
    // With a key it is safe to repeat the request.
    throw command.idempotencyKey === undefined ? attachIds(error, {}) : error
  }
}

/** Nothing is known about the run of an earlier request: its catalog may have changed since, so the run is read. */
function knownFields({ args }: RunCommand, start: StartOutcome): KnownFields {
  if ('repeated' in start) return { runId: null, input: null, traces: null }
  const { runId, isExisting = false } = start.started
  return { runId: isExisting ? null : runId, input: toSingleValue(args), traces: start.admitted.traces }
}

async function readRepeated(
  ports: StartPorts,
  { workflowId, runId }: RepeatedRun,
  call: Call,
): Promise<WorkflowResult> {
  try {
    return await readResult(ports, { workflowId, runId }, withTimeout(call, TIMEOUT_MS.closedRun))
  } catch (error) {
    throw addIds(error, { workflowId, runId })
  }
}

export type StartPorts = AdmitStartPorts & Pick<Ports, 'engine'>

export async function start(ports: StartPorts, command: StartCommand, call: Call): Promise<RunStart> {
  return toRunStart(await startOrRepeat(ports, command, call))
}

/** The outcome of a start. */
export type StartOutcome =
  | { started: StartedRun; admitted: AdmittedStart }
  /** An earlier request with the same key has started this run. */
  | { repeated: RepeatedRun }

/**
 * Every response about a start has the id of the first run, also if the chain continued before the start was repeated.
 */
export function toRunStart(result: StartOutcome): RunStart {
  if ('started' in result) {
    const { workflowId, runId, isExisting } = result.started
    return { workflowId, runId, ...(isExisting && { isExisting }) }
  }
  const { workflowId, firstRunId, status } = result.repeated
  return { workflowId, runId: firstRunId, repeatedStatus: status }
}

/** `startCall` has the deadline of the start itself, `call` that of everything before it. */
export async function startOrRepeat(
  ports: StartPorts,
  command: StartCommand,
  call: Call,
  startCall: Call = call,
): Promise<StartOutcome> {
  const outcome = await startOrFind(ports, command, call, startCall)
  const { workflowId, runId } = toRunStart(outcome)
  call.audit({ workflowId, runId })
  return outcome
}

async function startOrFind(
  ports: StartPorts,
  command: StartCommand,
  call: Call,
  startCall: Call,
): Promise<StartOutcome> {
  const { idempotencyKey } = command
  if (idempotencyKey === undefined) {
    const admitted = await admitStart(ports, command, call)
    return { admitted, started: await send(ports, admitted, startCall) }
  }
  const startKey = await toStartKey(idempotencyKey, command)
  const keyed = withKeyedId(command, startKey)
  const { workflowIdConflictPolicy: conflictPolicy = 'fail' } = command.options ?? {}
  const once: OnceForKey<StartOutcome> = {
    conflictPolicy,
    admit: () => admitStart(ports, keyed, call),
    async send(admitted) {
      const started = await send(ports, admitted, startCall)
      const { endedStatus: status } = started
      // Another request with the key came first: at the same time, or its response was lost.
      return status === undefined ? { admitted, started } : { repeated: { ...started, status } }
    },
    ofRepeated: (repeated) => ({ repeated }),
  }
  return sendOnce(ports.engine, { workflowId: keyed.workflowId, startKey }, once, call)
}

function send(ports: Pick<Ports, 'catalogs' | 'engine'>, { request }: AdmittedStart, call: Call): Promise<StartedRun> {
  rejectStartOfCatalog(ports, request)
  return ports.engine.start(request, call)
}

/**
 * Throws `ForbiddenError` for a start that could terminate or return the run of a catalog. Call it after the catalog
 * was read.
 */
function rejectStartOfCatalog(ports: Pick<Ports, 'catalogs'>, request: EngineStart): void {
  const { workflowIdConflictPolicy = 'fail' } = request.options ?? {}
  // The id may be that of the catalog itself, whose run is safe from a start with `fail`.
  if (workflowIdConflictPolicy !== 'fail') rejectOlderCatalog(ports, request)
}

/** Every check of a start that comes before it is sent to the engine. */
export async function validate(ports: StartPorts, command: StartCommand, call: Call): Promise<void> {
  const { idempotencyKey } = command
  const keyed = idempotencyKey === undefined ? command : withKeyedId(command, { key: await keyedId(idempotencyKey) })
  const { request } = await admitStart(ports, keyed, call)
  rejectStartOfCatalog(ports, request)
  await ports.engine.checkStart(request, call)
}
