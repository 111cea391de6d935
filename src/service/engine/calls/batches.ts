/** Batches of the engine. Their job ids are also workflow ids of the namespace, so they have a reserved prefix. */
import type { temporal } from '@temporalio/proto'
import { fromBase64, toBase64 } from '../../../shared/lib/base64.ts'
import { BatchOperationState, BatchOperationType } from '../../../shared/temporal/enums.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { toDate } from '../../../shared/temporal/time.ts'
import type { BatchOperation, BatchState, EngineBatch, FoundBatch, ListedBatch } from '../../model/batch.ts'
import type { Call } from '../../model/call.ts'
import { ServiceError } from '../../model/errors.ts'
import { invalidPageToken } from '../../model/page-token.ts'
import { type EngineContext, identityOf, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'
import { toLookupError } from './at-most-once/find-run.ts'
import { isCausedByToken, isInternalFailure } from './changed-token.ts'

const PREFIX = '$batch:'

/** An attempt whose response was lost is sent again: the engine starts one batch for each id. */
export async function startBatch(context: EngineContext, batch: EngineBatch, call: Call): Promise<FoundBatch | null> {
  const { batchId } = batch
  const request = await toRequest(context, batch, call)
  try {
    await context.rpc('startBatchOperation', request, call)
    return null
  } catch (error) {
    // While a batch is running, the engine reports its limit, also for the id of this batch.
    const isBusy = isRpcError(error, GrpcCode.RESOURCE_EXHAUSTED) && /^Max concurrent batch/.test(error.message)
    if (isBusy || isRpcError(error, GrpcCode.ALREADY_EXISTS)) {
      const found = await find(context, batchId, call).catch((failure) => {
        throw toLookupError(failure, { batchId })
      })
      if (found !== null) return found
    }
    const thrown = toServiceError(error, { kind: 'write', details: { batchId } })
    if (!isBusy || !(thrown instanceof ServiceError)) throw thrown
    const message = 'Another batch of the namespace is running: the workflow engine carries out one at a time'
    throw new ServiceError(thrown.error, message, { cause: error, details: thrown.details })
  }
}

async function toRequest({ namespace, payloads }: EngineContext, batch: EngineBatch, call: Call) {
  const { batchId, operation, reason, runs, signal, request } = batch
  // The engine returns it with the batch, and records it with signals.
  const identity = `${identityOf(call)} ${request}`
  return {
    namespace,
    jobId: PREFIX + batchId,
    reason,
    executions: runs.map(toExecution),
    ...(operation === 'stop' && { cancellationOperation: { identity } }),
    ...(operation === 'terminate' && { terminationOperation: { identity } }),
    ...(signal && { signalOperation: { signal: signal.name, input: await payloads.encode(signal.args), identity } }),
  }
}

export async function describeBatch(context: EngineContext, batchId: string, call: Call): Promise<FoundBatch | null> {
  try {
    return await find(context, batchId, call)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: { batchId } })
  }
}

async function find({ rpc, namespace }: EngineContext, batchId: string, call: Call): Promise<FoundBatch | null> {
  try {
    const found = await rpc('describeBatchOperation', { namespace, jobId: PREFIX + batchId }, call)
    const [listed] = toListed(found)
    if (listed === undefined) return null
    const { executions, totalOperationCount, completeOperationCount, identity, reason } = found
    return {
      ...listed,
      // The engine counts while it is running, but reports that only afterwards.
      matching: executions?.length || Number(totalOperationCount),
      processed: listed.state === 'completed' ? Number(completeOperationCount) : null,
      reason: reason ?? '',
      request: identity?.split(' ').at(-1),
    }
  } catch (error) {
    if (isRpcError(error, GrpcCode.NOT_FOUND)) return null
    throw error
  }
}

export async function stopBatch(
  { rpc, namespace }: EngineContext,
  batchId: string,
  reason: string,
  call: Call,
): Promise<boolean> {
  try {
    await rpc('stopBatchOperation', { namespace, jobId: PREFIX + batchId, reason, identity: identityOf(call) }, call)
    return true
  } catch (error) {
    // An earlier attempt may have stopped it.
    if (isRpcError(error, GrpcCode.NOT_FOUND)) return error.mayHaveTakenEffect
    throw toServiceError(error, { kind: 'read', details: { batchId } })
  }
}

export async function listBatches(
  { rpc, namespace }: EngineContext,
  { size, token }: { size: number; token: string | null },
  call: Call,
): Promise<{ batches: ListedBatch[]; nextToken: string | null }> {
  const begin = { namespace, pageSize: size }
  const request = token === null ? begin : { ...begin, nextPageToken: fromBase64(token) }
  try {
    const { operationInfo, nextPageToken } = await rpc('listBatchOperations', request, call, {
      async onLostResponse(error) {
        if (token !== null && isInternalFailure(error)) throw error
        return { retryRequest: request }
      },
    })
    return {
      batches: (operationInfo ?? []).flatMap(toListed),
      nextToken: nextPageToken?.length ? toBase64(nextPageToken) : null,
    }
  } catch (error) {
    const again = () => rpc('listBatchOperations', { ...begin, pageSize: 1 }, call)
    if (token !== null && (await isCausedByToken(error, again))) throw invalidPageToken(error)
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}

const OPERATIONS: ReadonlyMap<unknown, BatchOperation> = new Map([
  [BatchOperationType.TERMINATE, 'terminate'],
  [BatchOperationType.TERMINATE_WORKFLOW, 'terminate'],
  [BatchOperationType.CANCEL, 'stop'],
  [BatchOperationType.CANCEL_WORKFLOW, 'stop'],
  [BatchOperationType.SIGNAL, 'signal'],
  [BatchOperationType.SIGNAL_WORKFLOW, 'signal'],
])

const STATES: ReadonlyMap<unknown, BatchState> = new Map([
  [BatchOperationState.COMPLETED, 'completed'],
  [BatchOperationState.FAILED, 'failed'],
])

/** Empty for a batch of another program. */
function toListed(info: temporal.api.batch.v1.IBatchOperationInfo): ListedBatch[] {
  const { jobId, operationType, state, startTime, closeTime } = info
  const operation = OPERATIONS.get(operationType)
  if (!jobId?.startsWith(PREFIX) || operation === undefined) return []
  const times = { startedAt: toDate(startTime), closedAt: toDate(closeTime) }
  return [{ batchId: jobId.slice(PREFIX.length), operation, state: STATES.get(state) ?? 'running', ...times }]
}

function isRpcError(error: unknown, code: number): error is RpcError {
  return error instanceof RpcError && error.code === code
}
