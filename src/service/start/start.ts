/**
 * Starts a workflow, once for each `Idempotency-Key`, and waits for its result or not. Starts with a message, and those
 * of activities, recognize what was done for a key in the same way.
 */
import { isOpen, type Status, toSingleValue } from '../../shared/wire/execution.ts'
import { IDEMPOTENCY_MEMO } from '../../shared/wire/memo-keys.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { addIds, attachIds } from '../model/attach-ids.ts'
import { atMost, type Call, withTimeout } from '../model/call.ts'
import type { RunCommand, RunStart, StartCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine, EngineStart, Started, StartedRun } from '../model/engine.ts'
import { type ErrorName, hasErrorName, nullWhenNotFound, ServiceError } from '../model/errors.ts'
import type { Description, ExecutionRef, WorkflowResult } from '../model/execution.ts'
import { keyedId, readStartKey, type StartKey, toStartKey } from '../model/keyed-id.ts'
import type { ConflictPolicy } from '../model/workflow-options.ts'
import type { Ports } from '../ports.ts'
import { endedResult, type KnownFields, type WaitPorts, waitForEnd } from '../runs/chain-end.ts'
import { readResult } from '../runs/result.ts'
import { type AdmitStartPorts, type AdmittedStart, admitStart } from './admit-start.ts'

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
type StartOutcome =
  | { started: StartedRun; admitted: AdmittedStart }
  /** An earlier request with the same key has started this run. */
  | { repeated: RepeatedRun }

/**
 * Every response about a start has the id of the first run, also if the chain continued before the start was repeated.
 */
function toRunStart(result: StartOutcome): RunStart {
  if ('started' in result) {
    const { workflowId, runId, isExisting } = result.started
    return { workflowId, runId, ...(isExisting && { isExisting }) }
  }
  const { workflowId, firstRunId, status } = result.repeated
  return { workflowId, runId: firstRunId, repeatedStatus: status }
}

/** `startCall` has the deadline of the start itself, `call` that of everything before it. */
async function startOrRepeat(
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

type Describe = Pick<Engine, 'describe'>

/**
 * A chain that an earlier request with the same key has started. The ids and the status are those of its latest run.
 */
export interface RepeatedRun extends Started {
  status: Status
}

/** The latest run of a workflow id, and whether the key has started it. */
type Latest = { repeated: RepeatedRun } | { other: Description | null }

interface KeyedId {
  workflowId: string
  startKey: StartKey
}

/** A start that is sent once for each key, with what goes with it. */
export interface OnceForKey<Result> {
  /** What to do if a run is open that another request has started. */
  conflictPolicy: ConflictPolicy
  /** Decides about the start. */
  admit(): Promise<AdmittedStart>
  send(start: AdmittedStart): Promise<Result>
  /**
   * Sends what goes with the start to exactly this run, which another request has started. Null if that run must not
   * receive it, or has ended without it.
   */
  sendTo?(other: Description, start: AdmittedStart): Promise<Result | null>
  /** The result for a run that an earlier request has started. */
  ofRepeated(run: RepeatedRun): Result | Promise<Result>
}

/**
 * Sends a start once for each key: docs/decisions/034-idempotency-keys.md.
 *
 * The first attempt starts only if the id has no run. If it fails, the memo of the id's latest run shows whether a
 * request with this key has started it. If not, the second attempt follows the policies of this request.
 */
export async function sendOnce<Result>(
  engine: Describe,
  keyed: KeyedId,
  once: OnceForKey<Result>,
  call: Call,
): Promise<Result> {
  try {
    return await attemptTwice(engine, keyed, once, call)
  } catch (error) {
    throw withRetryAfter(error, keyed)
  }
}

async function attemptTwice<Result>(
  engine: Describe,
  keyed: KeyedId,
  { conflictPolicy, admit, send, sendTo, ofRepeated }: OnceForKey<Result>,
  call: Call,
): Promise<Result> {
  const { startKey } = keyed
  let admitted: AdmittedStart | null = null
  try {
    admitted = await admit()
    return await send(onlyUnused(admitted, startKey))
  } catch (error) {
    const found = await findAfterFailure(engine, keyed, error, conflictPolicy, call)
    if ('repeated' in found) return ofRepeated(found.repeated)
    // Without a repeated run, the id is in use. Only the engine says so, of a start that was admitted.
    if (admitted === null) throw error
    const result = found.other && (await sendTo?.(found.other, admitted))
    if (result) return result
  }
  try {
    // Two requests with the key may get here at once: with the same request id the engine starts one run for both.
    return await send(keyedStart(admitted, startKey, startKey.request))
  } catch (error) {
    const found = await findAfterFailure(engine, keyed, error, 'fail', call)
    if ('other' in found) throw error
    return ofRepeated(found.repeated)
  }
}

/** The options of the first attempt. */
export const ONLY_UNUSED = { workflowIdConflictPolicy: 'fail', workflowIdReusePolicy: 'reject-duplicate' } as const

/** The start for the first attempt, which the engine rejects if the workflow id has any run. */
function onlyUnused({ request, ...admitted }: AdmittedStart, startKey: StartKey): AdmittedStart {
  const options = { ...request.options, ...ONLY_UNUSED }
  return { ...admitted, request: { ...request, options, protocolMemo: toProtocolMemo(startKey) } }
}

/** The start whose run has the key in its memo. The engine carries it out once for each request id. */
export function keyedStart<Start extends AdmittedStart>(
  { request, ...admitted }: Start,
  startKey: StartKey,
  requestId: string,
) {
  return { ...admitted, request: { ...request, protocolMemo: toProtocolMemo(startKey), requestId } }
}

function toProtocolMemo(startKey: StartKey): Readonly<Record<string, unknown>> {
  return { [IDEMPOTENCY_MEMO]: startKey }
}

/** A command without a workflow id gets the id of its key. */
export function withKeyedId<Command extends StartCommand>(
  command: Command,
  { key }: Pick<StartKey, 'key'>,
): Command & { workflowId: string } {
  if (command.options?.workflowIdConflictPolicy === 'terminate-existing') {
    // A repeated request could terminate the run that the key has started, if that has continued as a new one.
    const message = 'must not be terminate-existing with an Idempotency-Key'
    throw new ServiceError('ValidationError', `workflowIdConflictPolicy ${message}`, {
      details: { issues: [{ path: '/workflowIdConflictPolicy', message }] },
    })
  }
  return { ...command, workflowId: command.workflowId ?? key }
}

/**
 * Adds `Retry-After` if the workflow id is derived from the key, perhaps with a prefix of the caller: a repeated
 * request then never starts a second run. Under any other id, other requests may have replaced the run.
 */
export function withRetryAfter(error: unknown, { workflowId, startKey }: KeyedId): unknown {
  if (!hasErrorName(error, 'EngineUnavailableError') || !workflowId.endsWith(startKey.key)) return error
  const message = 'The workflow engine is not responding. Send the request again with the same Idempotency-Key.'
  const details = { ...error.details, retryAfterSeconds: 1 }
  return new ServiceError(error.error, message, { cause: error.cause, details })
}

const MAY_BE_REPEATED: readonly ErrorName[] = [
  'ActivityAlreadyStartedError',
  'CatalogNotAvailableError',
  'EngineUnavailableError',
  'UnsupportedActivityError',
  'UnsupportedWorkflowError',
  'ValidationError',
  'WorkflowAlreadyStartedError',
]

/** Whether the engine or the catalog can return the error for a repeated request that was carried out. */
export function mayBeRepeated(error: unknown): error is ServiceError {
  return hasErrorName(error, ...MAY_BE_REPEATED) && !isUnsent(error)
}

/**
 * After an attempt that has failed: the run that the key has started, or the run of another request if the policies of
 * the request decide about the id. Throws if neither holds.
 */
async function findAfterFailure(
  engine: Describe,
  keyed: KeyedId,
  error: unknown,
  conflictPolicy: ConflictPolicy,
  call: Call,
): Promise<Latest> {
  if (!mayBeRepeated(error)) throw error
  // If not, this request may have been carried out, or an earlier one was, and the catalog rejects its repetition.
  const isIdUsed = error.error === 'WorkflowAlreadyStartedError'
  const found = await findRepeated(engine, keyed, call).catch((failure) => {
    throw isIdUsed || hasErrorName(failure, 'IdempotencyKeyReusedError') ? failure : error
  })
  if ('repeated' in found) return found
  // Another request may have used the id since the engine named this run.
  const namedId = isIdUsed ? error.details.runId : undefined
  if (namedId !== undefined && namedId !== found.other?.runId) {
    const named = await findRepeated(engine, { ...keyed, runId: namedId }, call)
    if ('repeated' in named) return named
  }
  const isIdTaken = conflictPolicy === 'fail' && found.other !== null && isOpen(found.other.status)
  if (!isIdUsed || isIdTaken) throw error
  return found
}

/** Whether nothing reached the engine. Then it would not respond to a description either. */
function isUnsent({ error, details }: ServiceError): boolean {
  return error === 'EngineUnavailableError' && details.retryAfterSeconds !== undefined
}

/**
 * The run that the key has started, or else the latest run of the id, which another request has started. With `runId`,
 * only this run may be that of the key. Throws `IdempotencyKeyReusedError` if the key has started it for another
 * request.
 */
export async function findRepeated(
  engine: Describe,
  { workflowId, runId: givenRunId, startKey }: KeyedId & { runId?: string },
  call: Call,
): Promise<Latest> {
  const latest = await describeOrNull(engine, { workflowId, ...(givenRunId && { runId: givenRunId }) }, call)
  if (latest === null) return { other: null }
  const found = await readKeyOfChain(engine, latest, call)
  if (found?.key !== startKey.key) return { other: latest }
  const { runId, firstRunId, status } = latest
  if (found.request === startKey.request) return { repeated: { workflowId, runId, firstRunId, status } }
  const message =
    'The Idempotency-Key was used for another request: workflow name, catalog, arguments, options or handler differ'
  throw new ServiceError('IdempotencyKeyReusedError', message, { details: { workflowId, runId } })
}

async function readKeyOfChain(
  engine: Describe,
  { workflowId, runId, firstRunId, memo }: Description,
  call: Call,
): Promise<StartKey | null> {
  const startKey = readStartKey(memo)
  if (startKey !== null || firstRunId === runId) return startKey
  // Workflow code can replace the memo when it continues as new.
  const first = await describeOrNull(engine, { workflowId, runId: firstRunId }, call)
  return first && readStartKey(first.memo)
}

function describeOrNull(engine: Describe, ref: ExecutionRef, call: Call): Promise<Description | null> {
  return engine.describe(ref, atMost(call, TIMEOUT_MS.describe)).catch(nullWhenNotFound)
}
