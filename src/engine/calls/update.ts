import type { temporal } from '@temporalio/proto'
import { atMost, type Call, within } from '../../domain/call.ts'
import type { Message } from '../../domain/engine.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { pause } from '../../domain/pause.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../enum-numbers.ts'
import { type Failure, revealed, toErrorDetails } from '../failure.ts'
import { fromArguments } from '../outcome.ts'
import { attended } from './attended.ts'
import { describe } from './describe.ts'
import { missingHandler } from './handlers.ts'
import { LOOK_MS, onOpenRun } from './target.ts'
import { factsOf, IDENTITY, toExecution, type Wire } from './wire.ts'

// After 20 s without a worker the engine answers that it has taken the update in: the same update is asked for again.
const REST_MS = 250

// What an answer that nobody gave may still cost, to say which run the update was sent to.
const LAST_LOOK_MS = 1000

export async function update(wire: Wire, ref: ExecutionRef, message: Message, updateId: string, call: Call): Promise<unknown> {
  const args = await wire.payloads.encode(message.args)
  let run = ref
  let isAdmitted = false
  try {
    while (true) {
      const answer = await send(wire, run, { name: message.name, args }, updateId, call).catch((error) => {
        // Once the engine has taken the update in, its limits are no answer: to be told to try again would be to do it twice.
        return isAdmitted && isBusy(error) ? null : Promise.reject(error)
      })
      const { outcome, updateRef } = answer ?? {}
      // From its first answer on the update belongs to one run.
      isAdmitted ||= updateRef != null
      run = updateRef?.workflowExecution?.runId ? { ...ref, runId: updateRef.workflowExecution.runId } : run
      if (outcome?.failure) throw await failed(wire, run, message, updateId, outcome.failure, call)
      if (outcome) return fromArguments(await wire.payloads.decode(outcome.success?.payloads))
      await pause(REST_MS, call.signal)
    }
  } catch (error) {
    const unlocated = error instanceof ServiceError && error.error === 'DeadlineExceededError' && error.details.runId === undefined
    throw unlocated ? await located(wire, ref, error, call) : error
  }
}

function send(wire: Wire, run: ExecutionRef, input: temporal.api.update.v1.IInput, updateId: string, call: Call) {
  const request = {
    namespace: wire.namespace,
    workflowExecution: toExecution(run),
    waitPolicy: { lifecycleStage: UpdateWorkflowExecutionLifecycleStage.COMPLETED },
    request: { meta: { updateId, identity: IDENTITY }, input },
  }
  return onOpenRun(wire, run, { kind: 'write', waitsForWorker: true, facts: { ...factsOf(run), updateId } }, call, () =>
    attended(wire.rpc, call, (watched) => wire.rpc('updateWorkflowExecution', request, watched)),
  )
}

function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && error.error === 'ResourceExhaustedError'
}

async function failed(
  wire: Wire,
  run: ExecutionRef,
  message: Message,
  updateId: string,
  failure: Failure,
  call: Call,
): Promise<ServiceError> {
  const { name, message: text } = toErrorDetails(await revealed(failure, wire.payloads))
  if (name === 'AcceptedUpdateCompletedWorkflow' && failure.source === 'Server') return closedUnder(wire, run, updateId, call)
  const missing = await missingHandler(wire, run, 'update', message, text, call)
  const details = { ...factsOf(run), updateId }
  return (
    missing ?? new ServiceError('UpdateFailedError', `Update "${message.name}" of workflow ${run.workflowId} failed: ${text}`, { details })
  )
}

async function closedUnder(wire: Wire, run: ExecutionRef, updateId: string, call: Call): Promise<ServiceError> {
  const { runId, status } = await describe(wire, run, atMost(call, LOOK_MS))
  return new ServiceError('WorkflowNotRunningError', `Workflow ${run.workflowId} ended before the update did: it is ${status}`, {
    details: { workflowId: run.workflowId, runId, updateId, workflowStatus: status },
  })
}

async function located(wire: Wire, ref: ExecutionRef, error: ServiceError, call: Call): Promise<ServiceError> {
  const lastLook = { ...within(call, LAST_LOOK_MS), signal: new AbortController().signal }
  const runId = await describe(wire, ref, lastLook).then(
    (run) => run.runId,
    // The answer is late as it is: without the run it still carries the update's id.
    () => undefined,
  )
  return runId === undefined
    ? error
    : new ServiceError(error.error, error.message, { cause: error.cause, details: { ...error.details, runId } })
}
