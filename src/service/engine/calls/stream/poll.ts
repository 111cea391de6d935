/** The poll of a stream: an update whose result is one batch of items, which the engine keeps. */
import type { temporal } from '@temporalio/proto'
import { isObject } from '../../../../shared/lib/json.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../../../shared/temporal/enums.ts'
import { decodeFailure, type Failure, toErrorDetails } from '../../../../shared/temporal/failure.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import { toDecoded, toEncoded } from '../../../../shared/temporal/payload.ts'
import { payloadFromWire } from '../../../../shared/temporal/payload-wire.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import {
  isOffset,
  isPollResult,
  type PollInput,
  type PollResult,
  pollUpdateId,
  STREAM_DRAINING,
  STREAM_POLL,
  TRUNCATED_OFFSET,
} from '../../../../shared/wire/stream.ts'
import type { Call } from '../../../model/call.ts'
import { ServiceError } from '../../../model/errors.ts'
import { outputStoredElsewhere } from '../../../model/stored-elsewhere.ts'
import type { StreamItem } from '../../../model/stream.ts'
import { type EngineContext, executionIds, IDENTITY, toExecution } from '../../context.ts'
import { isBusyWorkflow } from '../../errors.ts'
import { RpcError } from '../../transport/transport.ts'
import { streamNotFound } from './errors.ts'

/** The items that one poll returned. */
export interface Chunk {
  /** The offset that was polled. */
  from: number
  items: readonly StreamItem[]
  /** The offset to poll next. */
  next: number
  /** Size of the items as the engine carries them, plus an overhead in memory for each of them. */
  bytes: number
  /** Whether the engine keeps it, so that it can be read again. */
  isStored: boolean
}

export type PollAnswer =
  | { kind: 'chunk'; chunk: Chunk; isFull: boolean }
  /** The run is ending, or continuing as a new one. It gets no more polls. */
  | { kind: 'closing' }
  /** The run cannot take an update at the moment, for example because it is paused. */
  | { kind: 'unready' }
  /** The run has the poll, but has not answered it. `isAccepted` is false until a worker has seen it. */
  | { kind: 'pending'; isAccepted: boolean }
  /** This offset was not polled yet. */
  | { kind: 'unknown' }
  /** The run takes no more updates at all. */
  | { kind: 'exhausted' }

type Answered = Pick<temporal.api.workflowservice.v1.IPollWorkflowExecutionUpdateResponse, 'outcome' | 'stage'>

const { ACCEPTED, COMPLETED } = UpdateWorkflowExecutionLifecycleStage

/** What the engine has stored of a poll. Sends nothing to the run. */
export async function readPoll(context: EngineContext, run: RunRef, from: number, call: Call): Promise<PollAnswer> {
  if (!context.features.asyncUpdates.supported) return { kind: 'unknown' }
  const updateRef = { workflowExecution: toExecution(run), updateId: pollUpdateId(from) }
  const request = { namespace: context.namespace, updateRef, identity: IDENTITY }
  try {
    return await toAnswer(context, run, from, await context.rpc('pollWorkflowExecutionUpdate', request, call))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (error.code === GrpcCode.NOT_FOUND && error.message.startsWith('update "')) return { kind: 'unknown' }
    const answer = toRejection(error)
    if (answer === null) throw error
    return answer
  }
}

/**
 * Polls an offset. The engine answers when the run has published something, or after 20 s. Only for a run that has a
 * stream: another workflow may fail at the update (docs/streams.md).
 */
export async function sendPoll(
  context: EngineContext,
  run: RunRef,
  from: number,
  call: Call,
  lifecycleStage: number = COMPLETED,
): Promise<PollAnswer> {
  const input: PollInput = { topics: [], from_offset: from }
  const args = await context.payloads.encode([input])
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(run),
    waitPolicy: { lifecycleStage },
    request: { meta: { updateId: pollUpdateId(from), identity: IDENTITY }, input: { name: STREAM_POLL, args } },
  }
  try {
    return await toAnswer(context, run, from, await context.rpc('updateWorkflowExecution', request, call))
  } catch (error) {
    const answer = error instanceof RpcError ? toRejection(error) : null
    if (answer === null) throw error
    return answer
  }
}

/** The function that reads a stored poll. It may send the poll again: only use it where that adds nothing. */
export function storedPoll({ features }: EngineContext): typeof readPoll {
  return features.asyncUpdates.supported ? readPoll : sendPoll
}

/** What a rejection by the engine says about the run; null if it says nothing. */
function toRejection(error: RpcError): PollAnswer | null {
  const { code, message } = error
  if (/workflow execution already completed|update was aborted by closing workflow/.test(message))
    return { kind: 'closing' }
  if (code !== GrpcCode.FAILED_PRECONDITION && code !== GrpcCode.RESOURCE_EXHAUSTED) return null
  if (message.includes('total number of distinct updates')) return { kind: 'exhausted' }
  // The run has too many other updates, or tries to continue as a new one. That can fail, so the run is described next.
  return code === GrpcCode.FAILED_PRECONDITION || isBusyWorkflow(error) ? { kind: 'unready' } : null
}

async function toAnswer(
  context: EngineContext,
  run: RunRef,
  from: number,
  { outcome, stage }: Answered,
): Promise<PollAnswer> {
  if (!outcome) return { kind: 'pending', isAccepted: (stage ?? 0) >= ACCEPTED }
  if (outcome.failure) return toFailedAnswer(context, run, from, outcome.failure)
  const [decoded] = await context.payloads.decodeEach(outcome.success?.payloads)
  if (decoded?.storedElsewhere)
    throw outputStoredElsewhere(
      `A batch of the stream of workflow ${run.workflowId}`,
      decoded.storedElsewhere,
      executionIds(run),
    )
  const { next_offset, more_ready, items } = toPollResult(run, decoded?.value)
  // Without items, the poll has ended because the run is continuing as a new one. Sent again, it has the same result.
  if (next_offset <= from) return { kind: 'closing' }
  return { kind: 'chunk', chunk: toChunk(from, { items, next_offset, more_ready }, true), isFull: more_ready === true }
}

// What each item takes besides its data and topic: the object, and the frame of its event.
const ITEM_BYTES = 150

export function toChunk(from: number, { items, next_offset }: PollResult, isStored: boolean): Chunk {
  const bytes = items.reduce((sum, { data, topic }) => sum + data.length + topic.length + ITEM_BYTES, 0)
  return { from, items: items.map(toItem), next: next_offset, bytes, isStored }
}

export function toItem({ offset, topic, data }: PollResult['items'][number]): StreamItem {
  const payload = payloadFromWire(data)
  const { value, storedElsewhere } = toDecoded(payload)
  return { offset, topic, data: storedElsewhere === undefined ? value : toEncoded(payload) }
}

/** Throws if the value is not the result of a stream's poll. */
export function toPollResult(run: RunRef, value: unknown): PollResult {
  if (isPollResult(value)) return value
  if (!isObject(value) || typeof value.encoding !== 'string') throw streamNotFound(run)
  const message = `The stream of workflow ${run.workflowId} is encoded with "${value.encoding}"; set ENGINE_CODEC_ENDPOINT to a codec server that decodes it`
  throw new ServiceError('NotSupportedError', message, { details: executionIds(run) })
}

async function toFailedAnswer(
  context: EngineContext,
  run: RunRef,
  from: number,
  failure: Failure,
): Promise<PollAnswer> {
  const errorDetails = toErrorDetails(await decodeFailure(failure, context.payloads))
  const { name, message } = errorDetails
  const isClosed = name === 'AcceptedUpdateCompletedWorkflow' && failure.source === 'Server'
  // A workflow that was canceled fails all polls from then on.
  if (isClosed || name === STREAM_DRAINING || name === 'CanceledFailure' || message === 'Workflow cancelled')
    return { kind: 'closing' }
  const base = name === TRUNCATED_OFFSET ? Number(/base offset is (\d+)/i.exec(message)?.[1] ?? 0) : 0
  if (isOffset(base) && base > from)
    return { kind: 'chunk', chunk: { from, items: [], next: base, bytes: 0, isStored: true }, isFull: true }
  if (message.includes(STREAM_POLL)) throw streamNotFound(run)
  throw new ServiceError('UpdateFailedError', `The stream of workflow ${run.workflowId} failed: ${message}`, {
    details: { ...executionIds(run), errorDetails },
  })
}
