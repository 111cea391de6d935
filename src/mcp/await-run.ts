/** Waits for a run as long as the client can. Responds with the result, a task, or a stream of progress. */
import { addIds } from '../domain/model/attach-ids.ts'
import { type Call, withTimeout } from '../domain/model/call.ts'
import { TIMEOUT_MS } from '../domain/model/deadlines.ts'
import { hasErrorName, isOutage, ServiceError } from '../domain/model/errors.ts'
import type { WorkflowResult } from '../domain/model/execution.ts'
import type { Workflows } from '../domain/model/workflows.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import { type Notification, notification, type RequestId } from './protocol.ts'
import { type CallToolResult, openToolResult, rejectedToolResult } from './tool-result.ts'

/** How long every client waits: a call that ends within this time needs neither a task nor a stream. */
const GRACE_MS = 500

const PROGRESS_EVERY_MS = 10_000

/** How a client can wait. */
export interface WaitStyle {
  hasTasks: boolean
  acceptsEvents: boolean
  /** Null if the client does not want progress. */
  progressToken: RequestId | null
  waitMs: number
}

export interface AwaitedRun {
  /** Waits for the end of the run. Calls `onFound` as soon as the run is known. */
  wait(waitMs: number, onFound: (run: RunRef) => void): Promise<WorkflowResult>
  toResult(result: WorkflowResult): Promise<CallToolResult>
  /** Whether the call starts the run. */
  starts: boolean
  /** Whether it does so with an idempotency key. */
  isKeyed?: boolean
}

export type ToolAnswer =
  | { kind: 'result'; result: CallToolResult }
  | { kind: 'task'; run: RunRef }
  /** Notifications, and at the end the result. */
  | { kind: 'stream'; messages: AsyncIterable<Notification | { result: CallToolResult }> }

export async function awaitRun(
  workflows: Pick<Workflows, 'explain'>,
  run: AwaitedRun,
  style: WaitStyle,
  call: Call,
): Promise<ToolAnswer> {
  if (style.hasTasks) return resultOrTask(run, call)
  const wait = begin(run, style.waitMs, call)
  if (!style.acceptsEvents) return { kind: 'result', result: await resultOf(wait) }
  const early = await within(resultOf(wait), GRACE_MS)
  if (early !== null) return { kind: 'result', result: early }
  return { kind: 'stream', messages: progressOf(workflows, wait, style.progressToken, call) }
}

/** A wait that has begun. `ended` never rejects with a `ServiceError`. */
interface Wait {
  found: Promise<RunRef>
  ended: Promise<Ended>
}

/** `unread`: why the state of the run is not known. */
type Ended = { result: CallToolResult } | { open: RunRef; unread?: ServiceError }

function begin({ wait, toResult, starts, isKeyed }: AwaitedRun, waitMs: number, call: Call): Wait {
  const { promise: found, resolve } = Promise.withResolvers<RunRef>()
  let known: RunRef | null = null

  async function end(): Promise<Ended> {
    try {
      const result = await wait(waitMs, (run) => {
        known = idsOf(run)
        resolve(known)
      })
      return { result: await toResult(result).catch((error) => Promise.reject(addIds(error, idsOf(result)))) }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return afterFailure(error, { known, starts, isKeyed: isKeyed === true }, call)
    }
  }

  return { found, ended: end() }
}

function afterFailure(
  error: ServiceError,
  { known, starts, isKeyed }: { known: RunRef | null; starts: boolean; isKeyed: boolean },
  call: Call,
): Ended {
  if (known !== null && hasErrorName(error, 'WorkflowExecutionTimedOutError')) return { open: known }
  if (known !== null && isOutage(error)) {
    // The run continues, even if it cannot be read now.
    call.note({ waitInterrupted: error })
    return { open: known, unread: error }
  }
  call.reportError(error)
  return { result: rejectedToolResult(error, { starts, isKeyed, started: starts ? known : null }) }
}

function idsOf({ workflowId, runId }: RunRef): RunRef {
  return { workflowId, runId }
}

async function resultOf({ ended }: Wait): Promise<CallToolResult> {
  const end = await ended
  return 'result' in end ? end.result : openToolResult(end.open, end.unread)
}

async function resultOrTask(run: AwaitedRun, call: Call): Promise<ToolAnswer> {
  const end = await begin(run, GRACE_MS, call).ended
  return 'result' in end ? { kind: 'result', result: end.result } : { kind: 'task', run: end.open }
}

/**
 * The first notification contains the ids of the run, so that a client that loses the connection has them. The others
 * prevent a timeout in the client.
 */
async function* progressOf(
  workflows: Pick<Workflows, 'explain'>,
  wait: Wait,
  progressToken: RequestId | null,
  call: Call,
): AsyncGenerator<Notification | { result: CallToolResult }> {
  const result = resultOf(wait)
  // Prevents an unhandled rejection if the client has disconnected.
  result.catch(() => {})
  if (progressToken !== null) {
    const beganAt = Date.now() - GRACE_MS
    const run = await Promise.race([wait.found, result.then(() => null)])
    for (let early: CallToolResult | null = null; early === null && run !== null; ) {
      const message = await Promise.race([describe(workflows, run, call), result.then(() => null)])
      const progress = Math.round((Date.now() - beganAt) / 100) / 10
      if (message !== null) yield notification('notifications/progress', { progressToken, progress, message })
      early = await within(result, PROGRESS_EVERY_MS)
    }
  }
  yield { result: await result }
}

/** Says why the run is not complete, if that can be read. */
async function describe({ explain }: Pick<Workflows, 'explain'>, run: RunRef, call: Call): Promise<string> {
  const { workflowId, runId } = run
  const ids = `workflow ${workflowId}, run ${runId}`
  try {
    // Without a run id, for the latest run of the chain. With a new deadline, because the call's own has passed.
    const { verdict, reasons } = await explain({ workflowId }, withTimeout(call, TIMEOUT_MS.request))
    return `${ids}: ${verdict}: ${reasons[0]?.advice}`
  } catch (error) {
    // The client gets the ids of the run also after a bug.
    if (!(error instanceof ServiceError)) throw addIds(error, idsOf(run))
    return ids
  }
}

/** Null if the promise does not settle in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, ms, null)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
