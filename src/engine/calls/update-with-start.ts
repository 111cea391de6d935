import type { temporal } from '@temporalio/proto'
import { withIds } from '../../domain/attach-ids.ts'
import { type Call, unabortable } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import type { Message, StartedUpdate, StartRequest } from '../../domain/engine.ts'
import { ServiceError } from '../../domain/errors.ts'
import { isOpen } from '../../protocol/execution.ts'
import { WorkflowIdConflictPolicy } from '../../temporal/enums.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import type { Payload } from '../../temporal/payload.ts'
import { startTimeOf } from '../clock.ts'
import { type EngineContext, IDENTITY } from '../context.ts'
import { isGoneOrClosed, toServiceError, unwrapMultiOperationError } from '../errors.ts'
import type { AfterLoss } from '../rpc.ts'
import { type Request, type Response, RpcError } from '../transport/transport.ts'
import { type AtMostOnceRequest, findRun, findStartedRun } from './find-started-run.ts'
import { type Finding, investigate, unknownOutcomeError } from './lost-response.ts'
import { outcomeOf, toRequest, UNTIL_COMPLETED, type Update, type UpdateAnswer } from './update-outcome.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

/** Why no try is simply repeated: docs/decisions/018-retrying-update-with-start.md. */
export async function updateWithStart(
  context: EngineContext,
  request: StartRequest,
  message: Message,
  updateId: string,
  call: Call,
): Promise<StartedUpdate> {
  const { workflowId } = request
  // Together, for together they are weighed.
  const encoded = (await context.payloads.encode([...request.args, ...message.args]))?.payloads ?? []
  const input = toPayloads(encoded.slice(0, request.args.length))
  const update: Update = {
    ref: { workflowId },
    message,
    args: toPayloads(encoded.slice(request.args.length)),
    updateId,
  }
  // One for all attempts, like the update's id.
  const requestId = crypto.randomUUID()
  const { namespace } = context
  const startWorkflow = {
    namespace,
    workflowId,
    workflowType: { name: request.workflowName },
    taskQueue: { name: request.catalog },
    input,
    identity: IDENTITY,
    requestId,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  }
  const updateWorkflow = {
    namespace,
    workflowExecution: { workflowId },
    waitPolicy: UNTIL_COMPLETED,
    request: toRequest(update),
  }
  const operations = { namespace, operations: [{ startWorkflow }, { updateWorkflow }] }
  const asked: Asked = { facts: { workflowId, updateId }, requestId, operations }

  const { runId, started, answer } = await begin(context, asked, call)
  const result = await outcomeOf(context, { ...update, ref: { workflowId, runId } }, call, answer)
  return { workflowId, runId, started, result }
}

/** Null for no arguments, as a call without any has it. */
function toPayloads(payloads: Payload[]): temporal.api.common.v1.IPayloads | null {
  return payloads.length === 0 ? null : { payloads }
}

interface Asked extends AtMostOnceRequest {
  operations: Request<'executeMultiOperation'>
}

interface Begun {
  runId: string
  started: boolean
  /** Null when it was lost. */
  answer: UpdateAnswer | null
}

async function begin(context: EngineContext, asked: Asked, call: Call): Promise<Begun> {
  const { facts } = asked
  try {
    return await withEngineWatchdog(context.rpc, call, (watched) => send(context, asked, watched))
  } catch (error) {
    const told = toServiceError(error, { kind: 'write', waitsForWorker: true, facts })
    throw told instanceof ServiceError
      ? await located(told, call, (lastLook) => reachedRun(context, asked, lastLook))
      : withIds(told, facts)
  }
}

async function send(context: EngineContext, asked: Asked, call: Call): Promise<Begun> {
  const sentAt = Date.now()
  let isRepeat = false
  const onLostResponse = async (lost: RpcError): Promise<AfterLoss<'executeMultiOperation', Begun>> => {
    const found = begunBefore(await investigate(context, asked, sentAt, call), context.clock.floor(sentAt), asked, lost)
    if (found !== null) return { found }
    isRepeat = true
    return { request: asked.operations }
  }
  try {
    const answer = await context.rpc('executeMultiOperation', asked.operations, call, { onLostResponse })
    if (!('responses' in answer)) return answer
    const begun = toBegun(answer)
    context.clock.saw(startTimeOf(begun.runId))
    // A repeat says `started: false` even where an attempt before it has started the run.
    return begun.started || !isRepeat ? begun : { ...begun, started: await isOurs(context, asked, begun.runId, call) }
  } catch (error) {
    const refusal = unwrapMultiOperationError(error)
    if (!(refusal instanceof RpcError && (isGoneOrClosed(refusal) || isUpdateRefused(refusal)))) throw refusal
    return onLatest(context, asked, refusal, call)
  }
}

function toBegun({ responses }: Response<'executeMultiOperation'>): Begun {
  const [first, second] = responses
  const answer = second?.updateWorkflow ?? null
  const runId = first?.startWorkflow?.runId || answer?.updateRef?.workflowExecution?.runId
  if (!runId) throw new Error('the engine has started or found a run, and does not say which')
  return { runId, started: first?.startWorkflow?.started ?? false, answer }
}

/** Whether the start was done and the update was not: for its run goes on as another, is failing its task, or at a limit. */
function isUpdateRefused({ code, mayHaveTakenEffect }: RpcError): boolean {
  return mayHaveTakenEffect && (code === GrpcCode.RESOURCE_EXHAUSTED || code === GrpcCode.FAILED_PRECONDITION)
}

/**
 * The run to ask for the update when its answer was lost; null when no attempt has arrived.
 *
 * A run knows an update by its id: sent to a later one it would be done again, as it would be in a new run.
 */
function begunBefore(finding: Finding, sentAfter: number, asked: Asked, lost: RpcError): Begun | null {
  switch (finding.kind) {
    case 'no run':
      return null
    case 'ours':
      return { runId: finding.run.runId, started: true, answer: null }
    case 'same run': {
      const { runId, closedAt } = finding.run
      return closedAt !== null && closedAt < sentAfter ? null : { runId, started: false, answer: null }
    }
    case 'later run':
      throw unknownOutcomeError(asked.facts, lost)
  }
}

/**
 * Where the run has not taken the update: the latest one is sent it, which is that run, or the one as which it went on.
 *
 * It alone: the start sent with it once more could start a second run. That it is closed is the answer.
 */
async function onLatest(context: EngineContext, asked: Asked, refusal: RpcError, call: Call): Promise<Begun> {
  const { facts } = asked
  const latest = await findRun(context, asked, call)
  if (latest === null) throw refusal
  const { runId, status } = latest
  if (isOpen(status))
    return { runId, started: (await findStartedRun(context, latest, asked, call)) !== null, answer: null }
  throw new ServiceError(
    'WorkflowNotRunningError',
    `Workflow ${facts.workflowId} ended before it took the update: it is ${status}`,
    {
      cause: refusal,
      details: { ...facts, runId, workflowStatus: status },
    },
  )
}

/** Which run the update has reached, if any: not one that was closed before. */
async function reachedRun(context: EngineContext, asked: Asked, call: Call): Promise<string | undefined> {
  const latest = await findRun(context, asked, call)
  return latest !== null && (latest.isOurs || isOpen(latest.status)) ? latest.runId : undefined
}

async function isOurs(context: EngineContext, asked: Asked, runId: string, call: Call): Promise<boolean> {
  try {
    const run = await findRun(context, asked, call, runId)
    return run !== null && (await findStartedRun(context, run, asked, call)) !== null
  } catch (error) {
    throw withIds(error, { ...asked.facts, runId })
  }
}

const UNLOCATED: ReadonlySet<string> = new Set(['DeadlineExceededError', 'WorkflowNotReadyError'])

/** The same error, with the run the update was sent to when the call timed out or the run cannot accept it now. */
async function located(
  error: unknown,
  call: Call,
  find: (lastLook: Call) => Promise<string | undefined>,
): Promise<unknown> {
  if (!(error instanceof ServiceError && UNLOCATED.has(error.error)) || error.details.runId !== undefined) return error
  const lastLook = unabortable(call, TIMEOUT_MS.updatedRun)
  const runId = await find(lastLook).catch(
    // The answer is late as it is: without the run it still carries the update's id.
    () => undefined,
  )
  return runId === undefined
    ? error
    : new ServiceError(error.error, error.message, { cause: error.cause, details: { ...error.details, runId } })
}
