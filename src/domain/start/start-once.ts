import { isOpen, type Status } from '../../protocol/execution.ts'
import { IDEMPOTENCY_MEMO } from '../../protocol/memo-keys.ts'
import { atMost, type Call } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine, Started, StartRequest } from '../model/engine.ts'
import { type ErrorName, hasErrorName, nullWhenNotFound, ServiceError } from '../model/errors.ts'
import type { Description, ExecutionRef } from '../model/execution.ts'
import { readStartKey, type StartKey } from '../model/keyed-id.ts'
import type { ConflictPolicy } from '../model/workflow-options.ts'

type Describe = Pick<Engine, 'describe'>

/**
 * A chain that an earlier request with the same key has started. The ids and the status are those of its latest run.
 */
export interface RepeatedRun extends Started {
  status: Status
}

export interface KeyedId {
  workflowId: string
  startKey: StartKey
}

export interface StartOnce<Result> extends KeyedId {
  /** What to do if a run is open that another request has started. */
  conflictPolicy: ConflictPolicy
  /** Sends the start after applying `change` to it. */
  send(change: (request: StartRequest) => StartRequest): Promise<Result>
}

/**
 * Starts a workflow once for each key: docs/decisions/034-idempotency-keys.md.
 *
 * The first attempt starts only if the id has no run. If it fails, the memo of the id's latest run shows whether a
 * request with this key has started it. If not, the second attempt follows the policies of this request.
 */
export async function startOnce<Result>(
  engine: Describe,
  once: StartOnce<Result>,
  call: Call,
): Promise<{ result: Result } | { repeated: RepeatedRun }> {
  try {
    return await attemptTwice(engine, once, call)
  } catch (error) {
    throw withRetryAfter(error, once)
  }
}

async function attemptTwice<Result>(
  engine: Describe,
  once: StartOnce<Result>,
  call: Call,
): Promise<{ result: Result } | { repeated: RepeatedRun }> {
  const { startKey, conflictPolicy, send } = once
  const protocolMemo = toProtocolMemo(startKey)
  const onlyUnused = { workflowIdConflictPolicy: 'fail', workflowIdReusePolicy: 'reject-duplicate' } as const
  try {
    const options = (request: StartRequest) => ({ ...request.options, ...onlyUnused })
    return { result: await send((request) => ({ ...request, protocolMemo, options: options(request) })) }
  } catch (error) {
    const repeated = await findAfterFailure(engine, once, error, conflictPolicy, call)
    if (repeated !== null) return { repeated }
  }
  try {
    // Two requests with the key may get here at once: with the same request id the engine starts one run for both.
    return { result: await send((request) => ({ ...request, protocolMemo, requestId: startKey.request })) }
  } catch (error) {
    const repeated = await findAfterFailure(engine, once, error, 'fail', call)
    if (repeated === null) throw error
    return { repeated }
  }
}

export function toProtocolMemo(startKey: StartKey): Readonly<Record<string, unknown>> {
  return { [IDEMPOTENCY_MEMO]: startKey }
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

// Errors that the engine or the catalog can return for a repeated request that was carried out.
const MAY_BE_REPEATED: readonly ErrorName[] = [
  'CatalogNotAvailableError',
  'EngineUnavailableError',
  'UnsupportedWorkflowError',
  'ValidationError',
  'WorkflowAlreadyStartedError',
]

/**
 * After an attempt that has failed: the run that the key has started; null if the policies of the request decide about
 * the id. Throws if neither holds.
 */
async function findAfterFailure(
  engine: Describe,
  keyed: KeyedId,
  error: unknown,
  conflictPolicy: ConflictPolicy,
  call: Call,
): Promise<RepeatedRun | null> {
  if (!hasErrorName(error, ...MAY_BE_REPEATED) || isUnsent(error)) throw error
  // If not, this request may have been carried out, or an earlier one was, and the catalog rejects its repetition.
  const isIdUsed = error.error === 'WorkflowAlreadyStartedError'
  const found = await findRepeated(engine, keyed, call).catch((failure) => {
    throw isIdUsed || hasErrorName(failure, 'IdempotencyKeyReusedError') ? failure : error
  })
  if ('repeated' in found) return found.repeated
  const isIdTaken = conflictPolicy === 'fail' && found.other !== null && isOpen(found.other.status)
  if (!isIdUsed || isIdTaken) throw error
  return null
}

/** Whether nothing reached the engine. Then it would not respond to a description either. */
function isUnsent({ error, details }: ServiceError): boolean {
  return error === 'EngineUnavailableError' && details.retryAfterSeconds !== undefined
}

/**
 * The run that the key has started, or else the latest run of the id, which another request has started. Throws
 * `IdempotencyKeyReusedError` if the key has started that run for another request.
 */
export async function findRepeated(
  engine: Describe,
  { workflowId, startKey }: KeyedId,
  call: Call,
): Promise<{ repeated: RepeatedRun } | { other: Description | null }> {
  const latest = await describeOrNull(engine, { workflowId }, call)
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
