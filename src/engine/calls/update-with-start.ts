import { attachIds } from '../../domain/model/attach-ids.ts'
import { type Call, forExplanation } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import type { Message, StartedUpdate, StartRequest } from '../../domain/model/engine.ts'
import { ServiceError } from '../../domain/model/errors.ts'
import { isOpen } from '../../protocol/execution.ts'
import { WorkflowIdConflictPolicy } from '../../temporal/enums.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import { startTimeOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import { isGoneOrClosed, toServiceError, unwrapMultiOperationError } from '../errors.ts'
import { toPayloads } from '../payloads.ts'
import type { LostResponseAction } from '../rpc.ts'
import { type Request, type Response, RpcError } from '../transport/transport.ts'
import { type AtMostOnceRequest, findRun, findStartedRun, isStartedByRequest } from './at-most-once/find-run.ts'
import { findUpdatedRun } from './at-most-once/find-updated-run.ts'
import { findLatestRun } from './at-most-once/lost-response.ts'
import { stepAfterLostResponse, stepAfterRejection } from './at-most-once/update-with-start-step.ts'
import { rejectedOption } from './rejected-option.ts'
import { requestHeaders } from './request-headers.ts'
import { toStartWorkflow } from './start.ts'
import { outcomeOf, toRequest, UNTIL_COMPLETED, type Update, type UpdateResponse } from './update-outcome.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

/** Why the run is described before a retry: docs/decisions/018-retrying-update-with-start.md. */
export async function updateWithStart(
  context: EngineContext,
  request: StartRequest,
  message: Message,
  updateId: string,
  call: Call,
): Promise<StartedUpdate> {
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
    waitPolicy: UNTIL_COMPLETED,
    request: toRequest(update),
  }
  const { runId, started, response } = await sendWatched(
    context,
    {
      details: { workflowId, updateId },
      requestId: startWorkflow.requestId,
      operations: { namespace, operations: [{ startWorkflow }, { updateWorkflow }] },
      start: request,
    },
    call,
  )
  const result = await outcomeOf(context, { ...update, ref: { workflowId, runId } }, call, { response })
  return { workflowId, runId, started, result }
}

interface UpdateWithStartRequest extends AtMostOnceRequest {
  details: { workflowId: string; updateId: string }
  start: StartRequest
  operations: Request<'executeMultiOperation'>
}

/** The run that has received the update, or is to receive it now. */
interface Receiver {
  runId: string
  /** Whether the request started this run. */
  started: boolean
  /** The engine's response to the update; null if it has to be polled. */
  response: UpdateResponse | null
}

async function sendWatched(context: EngineContext, request: UpdateWithStartRequest, call: Call): Promise<Receiver> {
  const { details } = request
  try {
    return await withEngineWatchdog(context.rpc, call, (watched) => send(context, request, watched))
  } catch (error) {
    const rejected = rejectedOption(error, request.start)
    if (rejected !== null) throw rejected
    const failure = toServiceError(error, { kind: 'write', waitsForWorker: true, details })
    throw failure instanceof ServiceError
      ? await withRunId(context, request, failure, call)
      : attachIds(failure, details)
  }
}

async function send(context: EngineContext, request: UpdateWithStartRequest, call: Call): Promise<Receiver> {
  const { details, operations, start } = request
  const { workflowId, updateId } = details
  const usesExisting = start.options?.workflowIdConflictPolicy !== 'fail'
  const sentAt = Date.now()
  let isResent = false

  async function onLostResponse(error: RpcError): Promise<LostResponseAction<'executeMultiOperation', Receiver>> {
    const latest = await findLatestRun(context, request, sentAt, call)
    const sentAfter = context.clock.earliest(sentAt)
    const updatedRunId =
      latest.kind === 'maybe newer than request'
        ? await findUpdatedRun(context, { workflowId, runId: latest.run.runId }, { updateId, sentAfter }, call)
        : null
    const next = stepAfterLostResponse({ error, latest, sentAfter, usesExisting, updatedRunId }, details)
    if (next.step === 'throw') throw next.error
    if (next.step === 'poll') return { result: { runId: next.runId, started: next.started, response: null } }
    isResent = true
    return { retryRequest: operations }
  }

  try {
    const response = await context.rpc('executeMultiOperation', operations, call, { onLostResponse })
    if (!('responses' in response)) return response
    const receiver = toReceiver(response)
    context.clock.observe(startTimeOf(receiver.runId))
    // For a resent start the engine returns `started: false` even if an earlier attempt has started the run.
    if (receiver.started || !isResent) return receiver
    return { ...receiver, started: await isStartedByRequest(context, request, receiver.runId, call) }
  } catch (error) {
    const rejection = unwrapMultiOperationError(error)
    if (!isUpdateRejected(rejection)) throw rejection
    return receiverAfterRejection(context, request, rejection, call)
  }
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

async function receiverAfterRejection(
  context: EngineContext,
  request: UpdateWithStartRequest,
  error: RpcError,
  call: Call,
): Promise<Receiver> {
  const latest = await findRun(context, request, call)
  const started =
    latest !== null && isOpen(latest.status) && (await findStartedRun(context, latest, request, call)) !== null
  const next = stepAfterRejection({ error, latest, started }, request.details)
  if (next.step === 'throw') throw next.error
  return { runId: next.runId, started: next.started, response: null }
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
