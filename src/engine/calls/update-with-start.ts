import type { temporal } from '@temporalio/proto'
import type { Call } from '../../domain/call.ts'
import type { Message, StartedUpdate, StartRequest } from '../../domain/engine.ts'
import { ServiceError } from '../../domain/errors.ts'
import { isOpen } from '../../domain/execution.ts'
import { withIds } from '../../domain/with-ids.ts'
import { WorkflowIdConflictPolicy } from '../enum-numbers.ts'
import { blamed, isGoneOrClosed, isPassing, toServiceError } from '../errors.ts'
import type { Payload } from '../payload.ts'
import { afterRepeats } from '../rpc.ts'
import { Code, type Request, type Response, RpcError } from '../transport/transport.ts'
import { attended } from './attended.ts'
import { located, outcomeOf, toRequest, UNTIL_COMPLETED, type Update, type UpdateAnswer } from './update-outcome.ts'
import { type FoundRun, whoseRun } from './whose-run.ts'
import { IDENTITY, type Wire } from './wire.ts'

const MAX_TRIES = 3

// No two hosts' clocks shall be further apart: what is older than our first try by more was so before it.
const CLOCKS_APART_MS = 60_000

/** Why no try is simply repeated: docs/decisions/018-update-with-start-looks-first.md. */
export async function updateWithStart(
  wire: Wire,
  request: StartRequest,
  message: Message,
  updateId: string,
  call: Call,
): Promise<StartedUpdate> {
  const { workflowId } = request
  // Together, for together they are weighed.
  const encoded = (await wire.payloads.encode([...request.args, ...message.args]))?.payloads ?? []
  const input = toPayloads(encoded.slice(0, request.args.length))
  const update: Update = { ref: { workflowId }, message, args: toPayloads(encoded.slice(request.args.length)), updateId }
  const requestId = crypto.randomUUID()
  const { namespace } = wire
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
  const updateWorkflow = { namespace, workflowExecution: { workflowId }, waitPolicy: UNTIL_COMPLETED, request: toRequest(update) }
  const asked: Asked = { update, requestId, operations: { namespace, operations: [{ startWorkflow }, { updateWorkflow }] } }

  const { runId, started, answer } = await begin(wire, asked, call)
  const result = await outcomeOf(wire, { ...update, ref: { workflowId, runId } }, call, answer)
  return { workflowId, runId, started, result }
}

/** Null for no arguments, as a call without any has it. */
function toPayloads(payloads: Payload[]): temporal.api.common.v1.IPayloads | null {
  return payloads.length === 0 ? null : { payloads }
}

interface Asked {
  update: Update
  /** One for all tries, like the update's id. */
  requestId: string
  operations: Request<'executeMultiOperation'>
}

interface Begun {
  runId: string
  started: boolean
  /** Null when it was lost. */
  answer: UpdateAnswer | null
}

async function begin(wire: Wire, asked: Asked, call: Call): Promise<Begun> {
  const { ref, updateId } = asked.update
  try {
    return await attended(wire.rpc, call, (watched) => send(wire, asked, watched))
  } catch (error) {
    const facts = { workflowId: ref.workflowId, updateId }
    const told = toServiceError(error, { kind: 'write', waitsForWorker: true, facts })
    throw told instanceof ServiceError ? await located(told, call, (lastLook) => reachedRun(wire, asked, lastLook)) : withIds(told, facts)
  }
}

async function send(wire: Wire, asked: Asked, call: Call): Promise<Begun> {
  const sentAt = Date.now()
  for (let tries = 1; ; tries++) {
    try {
      const begun = toBegun(await wire.rpc('executeMultiOperation', asked.operations, call, { repeatable: false }))
      return tries === 1 || begun.started ? begun : { ...begun, started: await isOurs(wire, asked, begun.runId, call) }
    } catch (thrown) {
      const refusal = blamed(thrown)
      if (!(refusal instanceof RpcError)) throw refusal
      if (isGoneOrClosed(refusal) || isUpdateRefused(refusal)) return onLatest(wire, asked, refusal, call)
      const error = tries > 1 ? afterRepeats(refusal) : refusal
      if (!isLost(error) || tries === MAX_TRIES) throw error
      call.note({ engineRetries: tries })
      const begun = await foundBegun(wire, asked, error, sentAt, call)
      if (begun !== null) return begun
    }
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
function isUpdateRefused({ code, repeated }: RpcError): boolean {
  return repeated && (code === Code.RESOURCE_EXHAUSTED || code === Code.FAILED_PRECONDITION)
}

/** Whether the engine may have done it, and could not say so. */
function isLost(error: RpcError): boolean {
  return isPassing(error) && error.maybeSent
}

/**
 * What has become of a try whose answer was lost; null when it has not arrived.
 *
 * An update is known by its id to its own run alone: sent to a later one it would be done again, as it would be in a new run.
 */
async function foundBegun(wire: Wire, asked: Asked, lost: RpcError, sentAt: number, call: Call): Promise<Begun | null> {
  const latest = await look(wire, asked, call)
  if (latest === null) return null
  const own = await ownRun(wire, asked, latest, call)
  if (own !== null) return { runId: own.runId, started: true, answer: null }
  const wasSoBefore = latest.changedAt !== null && latest.changedAt.getTime() < sentAt - CLOCKS_APART_MS
  if (wasSoBefore) return isOpen(latest.status) ? { runId: latest.runId, started: false, answer: null } : null
  const { ref, updateId } = asked.update
  throw new ServiceError('EngineUnavailableError', 'The workflow engine’s answer was lost: it may have been done.', {
    cause: lost,
    details: { workflowId: ref.workflowId, updateId },
  })
}

/**
 * Where the run has not taken the update: the latest one is sent it, which is that run, or the one as which it went on.
 *
 * It alone: the start sent with it once more could start a second run. That it is closed is the answer.
 */
async function onLatest(wire: Wire, asked: Asked, refusal: RpcError, call: Call): Promise<Begun> {
  const { ref, updateId } = asked.update
  const latest = await look(wire, asked, call)
  if (latest === null) throw refusal
  const { runId, status } = latest
  if (isOpen(status)) return { runId, started: (await ownRun(wire, asked, latest, call)) !== null, answer: null }
  throw new ServiceError('WorkflowNotRunningError', `Workflow ${ref.workflowId} ended before it took the update: it is ${status}`, {
    cause: refusal,
    details: { workflowId: ref.workflowId, runId, updateId, workflowStatus: status },
  })
}

/** Which run the update has reached, if any: not one that was closed before. */
async function reachedRun(wire: Wire, asked: Asked, call: Call): Promise<string | undefined> {
  const latest = await look(wire, asked, call)
  return latest !== null && (latest.isOurs || isOpen(latest.status)) ? latest.runId : undefined
}

async function isOurs(wire: Wire, asked: Asked, runId: string, call: Call): Promise<boolean> {
  const { ref, updateId } = asked.update
  try {
    const run = await look(wire, asked, call, runId)
    return run !== null && (await ownRun(wire, asked, run, call)) !== null
  } catch (error) {
    throw withIds(error, { ...ref, runId, updateId })
  }
}

/** The run that this request started, when that is where this run's chain begins. */
async function ownRun(wire: Wire, asked: Asked, run: FoundRun, call: Call): Promise<FoundRun | null> {
  const first = run.isOurs || run.firstRunId === run.runId ? run : await look(wire, asked, call, run.firstRunId)
  return first?.isOurs ? first : null
}

function look(wire: Wire, { update, requestId }: Asked, call: Call, runId?: string): Promise<FoundRun | null> {
  const { workflowId } = update.ref
  const ref = runId === undefined ? { workflowId } : { workflowId, runId }
  return whoseRun(wire, ref, requestId, { workflowId, updateId: update.updateId }, call)
}
