import { UpdateWorkflowExecutionLifecycleStage } from '../../../shared/temporal/enums.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { type Call, forExplanation, withTimeout } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import type { UpdateState } from '../../model/engine.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { type EngineContext, executionIds, IDENTITY, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { pollUntil } from '../polls.ts'
import { type Response, RpcError } from '../transport/transport.ts'
import { readLast, type TemporalEventPage } from './history-pages.ts'
import { resultOf, toUpdateError, UNTIL_COMPLETED } from './update.ts'

interface SentUpdate {
  ref: ExecutionRef
  name: string
  updateId: string
  checksName?: boolean
}

type State = Response<'pollWorkflowExecutionUpdate'>

/** How far the update is, after waiting at most `waitMs` for it to complete. */
export async function pollUpdate(
  context: EngineContext,
  ref: ExecutionRef,
  given: Omit<SentUpdate, 'ref'>,
  waitMs: number,
  call: Call,
): Promise<UpdateState> {
  const update = { ...given, ref }
  try {
    if (waitMs === 0) return await toState(context, update, await readNow(context, update, call), call)
    const completed = await waitUntilCompleted(context, update, withTimeout(call, waitMs))
    // A call of its own, because a shutdown has aborted `call`.
    const lastCall = forExplanation(call, TIMEOUT_MS.describe)
    return await toState(context, update, completed ?? (await readNow(context, update, lastCall)), lastCall)
  } catch (error) {
    throw isUnknownUpdate(error)
      ? unknownUpdate(update, error)
      : toServiceError(error, { kind: 'read', details: { ...executionIds(ref), updateId: update.updateId } })
  }
}

/** Null when `call` is over first. */
function waitUntilCompleted(context: EngineContext, update: SentUpdate, call: Call): Promise<State | null> {
  // The engine may answer at once that the update is not complete.
  const toPolled = (state: State) => ({ found: state.outcome ? state : null, isRepeated: true })
  return pollUntil(context, call, {
    poll: async (polling) => toPolled(await pollOnce(context, update, polling)),
    read: async (reading) => toPolled(await readNow(context, update, reading)),
  })
}

/** The engine responds after 20 s at the latest. */
function pollOnce(context: EngineContext, update: SentUpdate, call: Call): Promise<State> {
  const request = { ...toRequest(context, update), waitPolicy: UNTIL_COMPLETED }
  return context.rpc('pollWorkflowExecutionUpdate', request, call)
}

function readNow(context: EngineContext, update: SentUpdate, call: Call): Promise<State> {
  return context.rpc('pollWorkflowExecutionUpdate', toRequest(context, update), call)
}

function toRequest({ namespace }: EngineContext, { ref, updateId }: SentUpdate) {
  return { namespace, updateRef: { workflowExecution: toExecution(ref), updateId }, identity: IDENTITY }
}

async function toState(
  context: EngineContext,
  update: SentUpdate,
  { outcome, stage, updateRef }: State,
  call: Call,
): Promise<UpdateState> {
  const { name, updateId, checksName } = update
  const { workflowId, runId: pinned } = update.ref
  const run = { workflowId, runId: updateRef?.workflowExecution?.runId || pinned || '' }
  const ids = { ...run, updateId }
  const isAccepted = outcome || stage >= UpdateWorkflowExecutionLifecycleStage.ACCEPTED
  if (!isAccepted) return { ...ids, stage: 'admitted' }
  if (checksName && (await acceptedName(context, run, updateId, call)) !== name) throw unknownUpdate(update)
  if (!outcome) return { ...ids, stage: 'accepted' }
  const settled = { ref: run, message: { name }, updateId }
  if (outcome.failure) throw await toUpdateError(context, settled, outcome.failure, call)
  return { ...ids, stage: 'completed', result: await resultOf(context, settled, outcome) }
}

/** The handler of an update that the workflow has accepted; null for any other. */
async function acceptedName(
  context: EngineContext,
  run: ExecutionRef,
  updateId: string,
  call: Call,
): Promise<string | null> {
  let nextPageToken: Uint8Array | null = null
  do {
    const page: TemporalEventPage = await readLast(context, run, call, { nextPageToken })
    for (const event of page.events) {
      const { acceptedRequest } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {}
      // After a reset, an event before the acceptance has the request.
      const request = acceptedRequest ?? event.workflowExecutionUpdateAdmittedEventAttributes?.request
      if (request?.meta?.updateId === updateId) return request.input?.name ?? null
    }
    nextPageToken = page.nextPageToken
  } while (nextPageToken !== null)
  return null
}

/** The engine reports an unknown update like an unknown run, with another message. */
function isUnknownUpdate(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.NOT_FOUND && error.message.startsWith('update "')
}

function unknownUpdate({ ref, updateId }: SentUpdate, cause?: RpcError): ServiceError {
  const run = ref.runId === undefined ? 'The latest run' : `Run ${ref.runId}`
  const message = `${run} of workflow ${ref.workflowId} has no update ${updateId}`
  return new ServiceError('UpdateNotFoundError', message, { cause, details: { ...executionIds(ref), updateId } })
}
