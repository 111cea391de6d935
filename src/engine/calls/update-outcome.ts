import type { temporal } from '@temporalio/proto'
import { withIds } from '../../domain/attach-ids.ts'
import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import type { Message } from '../../domain/engine.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { outputStoredElsewhere } from '../../domain/stored-elsewhere.ts'
import { sleep } from '../../lib/abort.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../temporal/enums.ts'
import { decodeFailure, type Failure, toErrorDetails } from '../../temporal/failure.ts'
import type { Payload } from '../../temporal/payload.ts'
import { type EngineContext, executionIds, IDENTITY, toExecution } from '../context.ts'
import { describe } from './describe.ts'
import { missingHandler } from './missing-handler.ts'
import { onOpenRun } from './on-open-run.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

/** Answered when there is an outcome. */
export const UNTIL_COMPLETED = { lifecycleStage: UpdateWorkflowExecutionLifecycleStage.COMPLETED }

export type UpdateAnswer = temporal.api.workflowservice.v1.IUpdateWorkflowExecutionResponse

export interface Update {
  ref: ExecutionRef
  message: Message
  /** Of the message, encoded. */
  args: temporal.api.common.v1.IPayloads | null
  updateId: string
}

// After 20 s without a worker the engine answers that it has taken the update in: the same update is asked for again.
const REST_MS = 250

/** The engine's form of an update; the same from try to try. */
export function toRequest({ updateId, message: { name }, args }: Update): temporal.api.update.v1.IRequest {
  return { meta: { updateId, identity: IDENTITY }, input: { name, args } }
}

/**
 * The value of an update's handler.
 *
 * `answered` is what the engine has said of it by now, undefined when it has not been sent; null when it may have been.
 * From then on it is asked for by its id, on a pinned run alone.
 */
export async function outcomeOf(
  context: EngineContext,
  update: Update,
  call: Call,
  answered?: UpdateAnswer | null,
): Promise<unknown> {
  const { ref, updateId } = update
  let run = ref
  let isAdmitted = answered !== undefined
  try {
    for (let known = answered ?? null; ; known = null) {
      const answer =
        known ??
        (await send(context, { ...update, ref: run }, call).catch((error) => {
          // Once the engine has taken the update in, its limits are no answer: to be told to try again would be to do it twice.
          return isAdmitted && isBusy(error) ? null : Promise.reject(error)
        }))
      const { outcome, updateRef } = answer ?? {}
      // From its first answer on the update belongs to one run.
      isAdmitted ||= updateRef != null
      run = updateRef?.workflowExecution?.runId ? { ...ref, runId: updateRef.workflowExecution.runId } : run
      if (outcome?.failure) throw await failed(context, { ...update, ref: run }, outcome.failure, call)
      if (outcome) return await resultOf(context, { ...update, ref: run }, outcome.success?.payloads)
      await sleep(REST_MS, call.signal)
    }
  } catch (error) {
    throw isAdmitted ? withIds(error, { ...executionIds(run), updateId }) : error
  }
}

function send(context: EngineContext, update: Update, call: Call) {
  const { ref, updateId } = update
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(ref),
    waitPolicy: UNTIL_COMPLETED,
    request: toRequest(update),
  }
  return onOpenRun(
    context,
    ref,
    { kind: 'write', waitsForWorker: true, facts: { ...executionIds(ref), updateId } },
    call,
    ({ repeat }) =>
      withEngineWatchdog(context.rpc, call, (watched) =>
        context.rpc('updateWorkflowExecution', request, watched, { onLostResponse: repeat(request, watched) }),
      ),
  )
}

async function resultOf(
  context: EngineContext,
  { ref, message, updateId }: Update,
  payloads: Payload[] | null | undefined,
): Promise<unknown> {
  const { value, storedElsewhere } = await context.payloads.decodeOutput(payloads, ref.workflowId)
  if (storedElsewhere === undefined) return value
  const result = `Update "${message.name}" of workflow ${ref.workflowId} was carried out; its result`
  throw outputStoredElsewhere(result, storedElsewhere, { ...executionIds(ref), updateId })
}

function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && error.error === 'ResourceExhaustedError'
}

async function failed(
  context: EngineContext,
  { ref, message, updateId }: Update,
  failure: Failure,
  call: Call,
): Promise<ServiceError> {
  const { name, message: text } = toErrorDetails(await decodeFailure(failure, context.payloads))
  if (name === 'AcceptedUpdateCompletedWorkflow' && failure.source === 'Server')
    return closedUnder(context, ref, updateId, call)
  const missing = await missingHandler(context, ref, 'update', message, text, call)
  const details = { ...executionIds(ref), updateId }
  return (
    missing ??
    new ServiceError('UpdateFailedError', `Update "${message.name}" of workflow ${ref.workflowId} failed: ${text}`, {
      details,
    })
  )
}

async function closedUnder(
  context: EngineContext,
  run: ExecutionRef,
  updateId: string,
  call: Call,
): Promise<ServiceError> {
  const { runId, status } = await describe(context, run, atMost(call, TIMEOUT_MS.describe))
  return new ServiceError(
    'WorkflowNotRunningError',
    `Workflow ${run.workflowId} ended before the update did: it is ${status}`,
    {
      details: { workflowId: run.workflowId, runId, updateId, workflowStatus: status },
    },
  )
}
