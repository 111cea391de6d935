import { creationTimeOf } from '../../../shared/lib/new-id.ts'
import { WorkflowIdConflictPolicy } from '../../../shared/temporal/enums.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { isOpen } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { attachIds } from '../../model/attach-ids.ts'
import { type Call, forExplanation } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import type { AcceptedUpdate, EngineStart, Message, StartedUpdate } from '../../model/engine.ts'
import { ServiceError } from '../../model/errors.ts'
import { type EngineContext, requestHeaders, toPayloads } from '../context.ts'
import { isGoneOrClosed, toServiceError, unwrapMultiOperationError } from '../errors.ts'
import { type LostResponseAction, withEngineWatchdog } from '../rpc.ts'
import { type Request, type Response, RpcError } from '../transport/transport.ts'
import {
  type AtMostOnceRequest,
  findRun,
  findStartedRun,
  findUpdatedRun,
  isStartedByRequest,
  type LatestRef,
} from './at-most-once/find-run.ts'
import { findLatestRun } from './at-most-once/lost-response.ts'
import {
  needsUpdatedRun,
  type Poll,
  type Resend,
  stepAfterLostResponse,
  stepAfterRejection,
  type Throw,
} from './at-most-once/update-with-start-step.ts'
import { rejectedOption } from './rejected-option.ts'
import { toStartWorkflow } from './start.ts'
import {
  toRequest,
  UNTIL_ACCEPTED,
  UNTIL_COMPLETED,
  type Update,
  type UpdateResponse,
  untilAccepted,
  untilCompleted,
} from './update.ts'

/**
 * One call starts a run, or finds one, and updates it. Until it is known which run has the update, the request is in
 * one of three states:
 *
 * - sent: no response was lost.
 * - lost: an attempt may have reached the engine. `stepAfterLostResponse` decides: send both again, send the update
 *   alone to the run that may have it (poll), or throw.
 * - rejected: the start was carried out or found a run, but that run did not accept the update. `stepAfterRejection`
 *   decides: send the update alone to the latest run (poll), or throw. The start is never sent again.
 *
 * Then the update is sent to this run only, until it has completed or was accepted. The reasons are in
 * docs/decisions/018-retrying-update-with-start.md.
 */
async function sendBoth(
  context: EngineContext,
  request: EngineStart,
  { message, updateId, waitPolicy }: Sending,
  call: Call,
): Promise<Sent> {
  const { namespace } = context
  const { workflowId } = request
  const { header, payloads } = requestHeaders(call, message.headers)
  // Encoded in one call: the size limit holds for both together.
  const sameCall = { others: message.args, otherHeaders: payloads }
  const { startWorkflow: toStart, otherPayloads } = await toStartWorkflow(context, request, call, sameCall)
  const update: Update = { ref: { workflowId }, message, args: toPayloads(otherPayloads), header, updateId }
  const startWorkflow = { workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING, ...toStart }
  const updateWorkflow = {
    namespace,
    workflowExecution: { workflowId },
    waitPolicy,
    request: toRequest(update, call),
  }
  const toSend: UpdateWithStartRequest = {
    details: { workflowId, updateId },
    workerRequest: `update "${message.name}"`,
    requestId: startWorkflow.requestId,
    operations: { namespace, operations: [{ startWorkflow }, { updateWorkflow }] },
    usesExisting: request.options?.workflowIdConflictPolicy !== 'fail',
  }
  const receiver = await withEngineWatchdog(context.rpc, call, (watched) => send(context, toSend, watched)).catch(
    async (error) => {
      throw rejectedOption(error, request) ?? (await toSendError(context, toSend, error, call))
    },
  )
  const run = { workflowId, runId: receiver.runId }
  return { run, started: receiver.started, update: { ...update, ref: run }, response: receiver.response }
}

export async function updateWithStart(
  context: EngineContext,
  request: EngineStart,
  message: Message,
  updateId: string,
  call: Call,
): Promise<StartedUpdate> {
  const sending = { message, updateId, waitPolicy: UNTIL_COMPLETED }
  const { run, started, update, response } = await sendBoth(context, request, sending, call)
  return { ...run, started, result: await untilCompleted(context, update, call, { response }) }
}

export async function startUpdateWithStart(
  context: EngineContext,
  request: EngineStart,
  message: Message,
  updateId: string,
  call: Call,
): Promise<AcceptedUpdate> {
  const sending = { message, updateId, waitPolicy: UNTIL_ACCEPTED }
  const { run, started, update, response } = await sendBoth(context, request, sending, call)
  await untilAccepted(context, update, call, { response })
  return { ...run, updateId, started }
}

interface Sending extends Pick<Update, 'message' | 'updateId'> {
  /** When the engine responds. */
  waitPolicy: typeof UNTIL_COMPLETED | typeof UNTIL_ACCEPTED
}

interface Sent extends Pick<Receiver, 'started' | 'response'> {
  run: RunRef
  /** To be sent to this run only. */
  update: Update
}

interface UpdateWithStartRequest extends AtMostOnceRequest {
  details: { workflowId: string; updateId: string }
  workerRequest: string
  operations: Request<'executeMultiOperation'>
  /** Whether the update may go to a run that the request has not started. */
  usesExisting: boolean
}

/** The run that has received the update, or is to receive it now. */
interface Receiver {
  runId: string
  /** Whether the request started this run. */
  started: boolean
  /** The engine's response to the update; null if it has to be polled. */
  response: UpdateResponse | null
}

/** Sends both until a run is known that has the update, or is the only one that may receive it. */
async function send(context: EngineContext, request: UpdateWithStartRequest, call: Call): Promise<Receiver> {
  const sentAt = Date.now()
  let isResent = false
  try {
    const reply = await context.rpc('executeMultiOperation', request.operations, call, {
      async onLostResponse(lost): Promise<LostResponseAction<'executeMultiOperation', Poll>> {
        const next = await afterLoss(context, request, lost, sentAt, call)
        if (next.step === 'throw') throw next.error
        if (next.step === 'poll') return { result: next }
        isResent = true
        return { retryRequest: request.operations }
      },
    })
    if ('step' in reply) return toPolled(reply)
    const receiver = toReceiver(reply)
    context.clock.observe(creationTimeOf(receiver.runId))
    // For a resent start the engine returns `started: false` even if an earlier attempt has started the run.
    if (receiver.started || !isResent) return receiver
    return { ...receiver, started: await isStartedByRequest(context, request, receiver.runId, call) }
  } catch (error) {
    const rejection = unwrapMultiOperationError(error)
    if (!isUpdateRejected(rejection)) throw rejection
    const next = await afterRejection(context, request, rejection, sentAt, call)
    if (next.step === 'throw') throw next.error
    return toPolled(next)
  }
}

async function afterLoss(
  context: EngineContext,
  request: UpdateWithStartRequest,
  error: RpcError,
  sentAt: number,
  call: Call,
): Promise<Resend | Poll | Throw> {
  const { details, usesExisting } = request
  const { workflowId } = details
  const latest = await findLatestRun(context, request, sentAt, call)
  const sentAfter = context.clock.earliest(sentAt)
  const lost = { error, latest, sentAfter, usesExisting }
  const updated = needsUpdatedRun(lost)
    ? await findUpdated(context, request, { run: { workflowId, ...lost.latest.run }, sentAfter }, call)
    : undefined
  return stepAfterLostResponse({ ...lost, updated }, details)
}

/** The run that has the update, if it is `run`, the latest one, or the one before it. */
async function findUpdated(
  context: EngineContext,
  request: UpdateWithStartRequest,
  { run, sentAfter }: { run: LatestRef; sentAfter: number },
  call: Call,
): Promise<Omit<Poll, 'step'> | null> {
  const runId = await findUpdatedRun(context, run, { updateId: request.details.updateId, sentAfter }, call)
  return runId === null ? null : { runId, started: await isStartedByRequest(context, request, runId, call) }
}

async function afterRejection(
  context: EngineContext,
  request: UpdateWithStartRequest,
  error: RpcError,
  sentAt: number,
  call: Call,
): Promise<Poll | Throw> {
  const latest = await findRun(context, request, call)
  const started =
    latest !== null && isOpen(latest.status) && (await findStartedRun(context, latest, request, call)) !== null
  const sentAfter = context.clock.earliest(sentAt)
  return stepAfterRejection({ error, sentAfter, latest, started }, request.details)
}

function toPolled({ runId, started }: Poll): Receiver {
  return { runId, started, response: null }
}

function toReceiver({ responses }: Response<'executeMultiOperation'>): Receiver {
  const [first, second] = responses
  const response = second?.updateWorkflow ?? null
  const runId = first?.startWorkflow?.runId || response?.updateRef?.workflowExecution?.runId
  if (!runId) throw new Error('the engine started or found a run but did not return its run id')
  return { runId, started: first?.startWorkflow?.started ?? false, response }
}

/** Whether the run closed before it received the update, or was started but did not accept the update. */
function isUpdateRejected(error: unknown): error is RpcError {
  if (isGoneOrClosed(error)) return true
  // The run is continuing as a new one or at a limit (RESOURCE_EXHAUSTED), or its workflow task fails
  // (FAILED_PRECONDITION).
  return (
    error instanceof RpcError &&
    error.mayHaveTakenEffect &&
    (error.code === GrpcCode.RESOURCE_EXHAUSTED || error.code === GrpcCode.FAILED_PRECONDITION)
  )
}

async function toSendError(
  context: EngineContext,
  request: UpdateWithStartRequest,
  error: unknown,
  call: Call,
): Promise<ServiceError> {
  const { details, workerRequest } = request
  const failure = toServiceError(error, { kind: 'write', workerRequest, details })
  return failure instanceof ServiceError ? withRunId(context, request, failure, call) : attachIds(failure, details)
}

const NEEDS_RUN_ID: ReadonlySet<string> = new Set(['DeadlineExceededError', 'WorkflowNotReadyError'])

/** Adds the run that may have received the update to an error about a worker that did not respond. */
async function withRunId(
  context: EngineContext,
  request: UpdateWithStartRequest,
  error: ServiceError,
  call: Call,
): Promise<ServiceError> {
  if (!NEEDS_RUN_ID.has(error.error) || error.details.runId !== undefined) return error
  const latest = await findRun(context, request, forExplanation(call, TIMEOUT_MS.updatedRun)).catch(
    (runUnread: unknown) => {
      // The response is late already, and useful without the run: it carries the update id.
      call.note({ runUnread })
      return null
    },
  )
  // A run that was closed before cannot have received it.
  if (latest === null || !(latest.startedByRequest || isOpen(latest.status))) return error
  const details = { ...error.details, runId: latest.runId }
  return new ServiceError(error.error, error.message, { cause: error.cause, details })
}
