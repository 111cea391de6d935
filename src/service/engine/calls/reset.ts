import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { createResetHistory, type ResetHistory } from '../../../shared/temporal/history/reset-point.ts'
import type { TemporalEvent } from '../../../shared/temporal/outcome.ts'
import { toInt64 } from '../../../shared/temporal/time.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { attachIds } from '../../model/attach-ids.ts'
import { atMost, type Call } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import type { ResetPoint, ResetResult, ResetTarget } from '../../model/engine.ts'
import { MAX_AVAILABLE, ServiceError } from '../../model/errors.ts'
import type { Description } from '../../model/execution.ts'
import { type EngineContext, executionIds, identityOf, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import type { LostResponseAction } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { unknownOutcomeError } from './at-most-once/lost-response.ts'
import { describe } from './describe.ts'
import { readPage } from './history-pages.ts'

type BaseRun = RunRef & Pick<Description, 'resetRunId'>

export async function resetRun(
  context: EngineContext,
  run: BaseRun,
  { target, reason }: ResetPoint,
  call: Call,
): Promise<ResetResult> {
  const history = await readHistory(context, run, call)
  const eventId = resetPoint(run, target, history)
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(run),
    workflowTaskFinishEventId: toInt64(eventId),
    reason: reason ?? '',
    identity: identityOf(call),
    requestId: crypto.randomUUID(),
  }

  /** The engine does not recognize a repeated reset, so after a lost response it is looked up, and never sent again. */
  async function onLostResponse(error: RpcError): Promise<LostResponseAction<'resetWorkflowExecution', RunRef>> {
    const runId = await findReset(context, run, { eventId, reason: request.reason }, call)
    if (runId === null) throw unknownOutcomeError(executionIds(run), error)
    return { result: { workflowId: run.workflowId, runId } }
  }

  try {
    const { runId } = await context.rpc('resetWorkflowExecution', request, call, { onLostResponse })
    return { runId, runsAgain: history.stepsOpenAt(eventId) }
  } catch (error) {
    throw isRejected(error)
      ? invalidTarget(run, target, `cannot be reset to event ${eventId}`, error)
      : toServiceError(error, { kind: 'write', details: executionIds(run) })
  }
}

async function readHistory(context: EngineContext, run: RunRef, call: Call): Promise<ResetHistory> {
  const history = createResetHistory()
  try {
    for await (const events of pages(context, run, call)) history.add(events)
    return history
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}

async function* pages(context: EngineContext, run: RunRef, call: Call): AsyncIterable<TemporalEvent[]> {
  let nextPageToken: Uint8Array | null = null
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(context, run, call, { nextPageToken })
    yield page.events
    nextPageToken = page.nextPageToken
  } while (nextPageToken !== null)
}

function resetPoint(run: RunRef, target: ResetTarget, history: ResetHistory): number {
  if ('eventId' in target) {
    const point = history.pointAfter(target.eventId)
    if (point === null) throw invalidTarget(run, target, 'has no completed workflow task at or after this event')
    return point
  }
  const { stepName } = target
  const names = history.stepNames()
  if (!names.includes(stepName)) throw unknownStep(run, stepName, names)
  const completion = history.completionOf(stepName)
  if (completion === null) throw notCompleted(run, `No step "${stepName}" of workflow ${run.workflowId} has completed`)
  const point = history.pointAfter(completion)
  if (point !== null) return point
  const message = `Step "${stepName}" of workflow ${run.workflowId} has completed, but the workflow has not continued since`
  throw notCompleted(run, message)
}

/** The run that this reset has created; null if it is not found. */
async function findReset(
  context: EngineContext,
  base: BaseRun,
  { eventId, reason }: { eventId: number; reason: string },
  call: Call,
): Promise<string | null> {
  const { workflowId } = base
  const bounded = atMost(call, TIMEOUT_MS.describe)
  try {
    const { resetRunId: runId } = await describe(context, base, bounded)
    if (runId === undefined || runId === base.resetRunId) return null
    // Another client may have reset the same run.
    const event = await findEvent(context, { workflowId, runId }, eventId, bounded)
    const { baseRunId, failure } = event?.workflowTaskFailedEventAttributes ?? {}
    return baseRunId === base.runId && (failure?.message ?? '') === reason ? runId : null
  } catch (error) {
    throw attachIds(toServiceError(error, { kind: 'write', details: {} }), executionIds(base))
  }
}

async function findEvent(
  context: EngineContext,
  run: RunRef,
  eventId: number,
  call: Call,
): Promise<TemporalEvent | null> {
  for await (const events of pages(context, run, call)) {
    const event = events.find((one) => Number(one.eventId) === eventId)
    if (event !== undefined) return event
  }
  return null
}

function isRejected(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.INVALID_ARGUMENT
}

function invalidTarget(run: RunRef, target: ResetTarget, reason: string, cause?: RpcError): ServiceError {
  const path = 'eventId' in target ? '/eventId' : '/stepName'
  const message = `Run ${run.runId} of workflow ${run.workflowId} ${reason}`
  const details = { ...executionIds(run), issues: [{ path, message: `the run ${reason}` }] }
  return new ServiceError('ValidationError', message, { cause, details })
}

function unknownStep(run: RunRef, stepName: string, names: string[]): ServiceError {
  const details = { ...executionIds(run), ...(names.length <= MAX_AVAILABLE && { available: names }) }
  return new ServiceError('StepNotFoundError', `Workflow ${run.workflowId} has no step "${stepName}"`, { details })
}

function notCompleted(run: RunRef, message: string): ServiceError {
  return new ServiceError('StepNotCompletedError', message, { details: executionIds(run) })
}
