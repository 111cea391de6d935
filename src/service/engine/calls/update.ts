import type { temporal } from '@temporalio/proto'
import { sleep } from '../../../shared/lib/abort.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../../shared/temporal/enums.ts'
import { decodeFailure, type Failure, toErrorDetails } from '../../../shared/temporal/failure.ts'
import { attachIds } from '../../model/attach-ids.ts'
import { atMost, type Call } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import type { Message, UpdateRef } from '../../model/engine.ts'
import { hasErrorName, ServiceError } from '../../model/errors.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { outputStoredElsewhere } from '../../model/stored-elsewhere.ts'
import { type EngineContext, executionIds, identityOf, requestHeaders, toExecution } from '../context.ts'
import { withEngineWatchdog } from '../rpc.ts'
import { onOpenRun } from './at-most-once/on-open-run.ts'
import { describe } from './describe.ts'
import { missingHandler } from './diagnosis/missing-handler.ts'

export async function update(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<unknown> {
  return untilCompleted(context, await toUpdate(context, ref, message, updateId, call), call)
}

export async function startUpdateOnce(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<UpdateRef> {
  const runId = await untilAccepted(context, await toUpdate(context, ref, message, updateId, call), call)
  return { workflowId: ref.workflowId, runId, updateId }
}

async function toUpdate(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<Update> {
  const { header, payloads } = requestHeaders(call, message.headers)
  return { ref, message, args: await context.payloads.encode(message.args, payloads), header, updateId }
}

const { ACCEPTED, COMPLETED } = UpdateWorkflowExecutionLifecycleStage

/** The engine responds when the update has completed. */
export const UNTIL_COMPLETED = { lifecycleStage: COMPLETED }

/** The engine responds when the workflow has accepted the update. */
export const UNTIL_ACCEPTED = { lifecycleStage: ACCEPTED }

export type UpdateResponse = temporal.api.workflowservice.v1.IUpdateWorkflowExecutionResponse

export interface Update {
  ref: ExecutionRef
  message: Message
  /** The encoded arguments of `message`. */
  args: temporal.api.common.v1.IPayloads | null
  header?: temporal.api.common.v1.IHeader | null
  updateId: string
}

/** The part of an update that its errors need. */
type SettledUpdate = Pick<Update, 'ref' | 'updateId'> & { message: Pick<Message, 'name'> }

/** An update that has been sent already. */
interface SentUpdate {
  /** Null if the response is lost. */
  response: UpdateResponse | null
}

// Without a worker the engine responds after 20 s that it has admitted the update. Then the same update is sent again.
const POLL_PAUSE_MS = 250

/** The engine's form of an update, the same for all attempts. */
export function toRequest(
  { updateId, message: { name }, args, header }: Update,
  call: Call,
): temporal.api.update.v1.IRequest {
  return { meta: { updateId, identity: identityOf(call) }, input: { name, args, ...(header && { header }) } }
}

/** Sends the update until it has completed, and returns its result. If it was `sent` before, `ref` must be pinned. */
export async function untilCompleted(
  context: EngineContext,
  update: Update,
  call: Call,
  sent?: SentUpdate,
): Promise<unknown> {
  const sending: Sending = { update, mayBeAdmitted: sent !== undefined }
  try {
    for (let known = sent?.response ?? null; ; known = null) {
      const response = await step(COMPLETED, context, sending, known, call)
      if (response?.outcome) return await resultOf(context, sending.update, response.outcome)
      await sleep(POLL_PAUSE_MS, call.signal)
    }
  } catch (error) {
    throw withIds(sending, error)
  }
}

/**
 * Sends the update until the workflow has accepted it, and returns the run. Rejects if the update has failed by then.
 * If it was `sent` before, `ref` must be pinned.
 */
export async function untilAccepted(
  context: EngineContext,
  update: Update,
  call: Call,
  sent?: SentUpdate,
): Promise<string> {
  const sending: Sending = { update, mayBeAdmitted: sent !== undefined }
  try {
    let known = sent?.response ?? null
    while (!isAccepted(await step(ACCEPTED, context, sending, known, call))) {
      known = null
      await sleep(POLL_PAUSE_MS, call.signal)
    }
    const { runId } = sending.update.ref
    if (runId !== undefined) return runId
    throw new ServiceError('EngineError', 'The engine accepted the update, but did not return its run id')
  } catch (error) {
    throw withIds(sending, error)
  }
}

/** What the responses so far say of an update: nothing, that the engine has it, or also which run has it. */
interface Sending {
  /** Its `ref` is pinned to the run that has the update, once a response names that run. */
  update: Update
  /** Whether the engine may have the update. Then errors carry its ids, and no `Retry-After`. */
  mayBeAdmitted: boolean
}

/**
 * Makes one attempt, unless its response is `known`. Null if another attempt must follow. Rejects if the update has
 * failed.
 */
async function step(
  stage: number,
  context: EngineContext,
  sending: Sending,
  known: UpdateResponse | null,
  call: Call,
): Promise<UpdateResponse | null> {
  const response = known ?? (await attempt(stage, context, sending, call))
  const { updateRef, outcome } = response ?? {}
  const runId = updateRef?.workflowExecution?.runId
  if (runId) {
    sending.update = { ...sending.update, ref: { ...sending.update.ref, runId } }
    call.audit({ runId })
  }
  if (updateRef) sending.mayBeAdmitted = true
  if (outcome?.failure) throw await toUpdateError(context, sending.update, outcome.failure, call)
  return response
}

async function attempt(
  stage: number,
  context: EngineContext,
  { update, mayBeAdmitted }: Sending,
  call: Call,
): Promise<UpdateResponse | null> {
  try {
    return await send(stage, context, update, call)
  } catch (error) {
    // The engine has the update. A client that gets a 429 would send it again, with another id.
    if (mayBeAdmitted && hasErrorName(error, 'ResourceExhaustedError')) return null
    throw error
  }
}

function isAccepted(response: UpdateResponse | null): boolean {
  return (response?.stage ?? 0) >= ACCEPTED || Boolean(response?.outcome)
}

function withIds({ update: { ref, updateId }, mayBeAdmitted }: Sending, error: unknown): unknown {
  return mayBeAdmitted ? attachIds(error, { ...executionIds(ref), updateId }) : error
}

function send(stage: number, context: EngineContext, update: Update, call: Call): Promise<UpdateResponse> {
  const { ref, message, updateId } = update
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(ref),
    waitPolicy: { lifecycleStage: stage },
    request: toRequest(update, call),
  }
  return onOpenRun(
    context,
    ref,
    { kind: 'write', workerRequest: `update "${message.name}"`, details: { ...executionIds(ref), updateId } },
    call,
    (attempts) =>
      withEngineWatchdog(context.rpc, call, (watched) =>
        context.rpc('updateWorkflowExecution', request, watched, {
          async onLostResponse(lost) {
            const pinned = await attempts.pinAfterLoss(lost, watched)
            return { retryRequest: { ...request, workflowExecution: toExecution(pinned) } }
          },
        }),
      ),
  )
}

/** The value of an update that has completed. */
export async function resultOf(
  { payloads }: EngineContext,
  { ref, message, updateId }: SettledUpdate,
  { success }: temporal.api.update.v1.IOutcome,
): Promise<unknown> {
  const { value, storedElsewhere } = await payloads.decodeOutput(success?.payloads, ref.workflowId)
  if (storedElsewhere === undefined) return value
  const result = `Update "${message.name}" of workflow ${ref.workflowId} completed; its result`
  throw outputStoredElsewhere(result, storedElsewhere, { ...executionIds(ref), updateId })
}

/** The error for an update that has failed. */
export async function toUpdateError(
  context: EngineContext,
  { ref, message, updateId }: SettledUpdate,
  failure: Failure,
  call: Call,
): Promise<ServiceError> {
  const errorDetails = toErrorDetails(await decodeFailure(failure, context.payloads))
  const { name, message: reason } = errorDetails
  if (name === 'AcceptedUpdateCompletedWorkflow' && failure.source === 'Server')
    return closedBeforeUpdate(context, ref, updateId, call)
  const missing = await missingHandler(context, ref, 'update', message, reason, call)
  if (missing !== null) return missing
  const text = `Update "${message.name}" of workflow ${ref.workflowId} failed: ${reason}`
  return new ServiceError('UpdateFailedError', text, { details: { ...executionIds(ref), updateId, errorDetails } })
}

async function closedBeforeUpdate(
  context: EngineContext,
  ref: ExecutionRef,
  updateId: string,
  call: Call,
): Promise<ServiceError> {
  const { workflowId } = ref
  const { runId, status } = await describe(context, ref, atMost(call, TIMEOUT_MS.describe))
  const message = `Workflow ${workflowId} ended before the update completed; its status is ${status}`
  return new ServiceError('WorkflowNotRunningError', message, {
    details: { workflowId, runId, updateId, workflowStatus: status },
  })
}
