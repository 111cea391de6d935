/** Waits for a run as long as the client can. Responds with the result, a task, or a stream of progress. */

import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { addIds } from '../../model/attach-ids.ts'
import { type Call, unaudited, withTimeout } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { type ErrorName, hasErrorName, isOutage, ServiceError } from '../../model/errors.ts'
import type { WorkflowResult } from '../../model/execution.ts'
import { reasonText } from '../../model/explanation.ts'
import type { Workflows } from '../../verbs.ts'
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
  if (style.hasTasks) {
    const end = valid(await begin(run, GRACE_MS, call).ended)
    return 'result' in end ? { kind: 'result', result: end.result } : { kind: 'task', run: end.open }
  }
  const wait = begin(run, style.waitMs, call)
  const end = style.acceptsEvents ? await within(wait.ended, GRACE_MS) : await wait.ended
  if (end !== null) return { kind: 'result', result: toToolResult(valid(end)) }
  return { kind: 'stream', messages: progressOf(workflows, wait, style.progressToken, call) }
}

/** A wait that has begun. `ended` never rejects with a `ServiceError`. */
interface Wait {
  found: Promise<RunRef>
  ended: Promise<Ended>
}

/** `invalid`: the arguments were rejected. `unread`: why the state of the run is not known. */
type Ended = { result: CallToolResult; invalid?: ServiceError } | { open: RunRef; unread?: ServiceError }

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

const AFTER_FOUND: readonly ErrorName[] = [
  'ForbiddenError',
  'OutcomeUnknownError',
  'ResultUnreadableError',
  'UnauthorizedError',
]

function afterFailure(
  error: ServiceError,
  { known, starts, isKeyed }: { known: RunRef | null; starts: boolean; isKeyed: boolean },
  call: Call,
): Ended {
  if (known !== null && hasErrorName(error, 'WorkflowExecutionTimedOutError')) return { open: known }
  if (known !== null && (isOutage(error) || hasErrorName(error, ...AFTER_FOUND))) {
    // The run continues, even if it cannot be read now, or not any more with this credential.
    call.note({ waitInterrupted: error })
    return { open: known, unread: error }
  }
  call.reportError(error)
  const result = rejectedToolResult(error, { starts, isKeyed, started: starts ? known : null })
  return known === null && hasErrorName(error, 'ValidationError') ? { result, invalid: error } : { result }
}

/** Throws if the arguments were rejected: they may be valid as JSON (`withJsonText`). */
function valid(end: Ended): Ended {
  if ('result' in end && end.invalid !== undefined) throw end.invalid
  return end
}

function idsOf({ workflowId, runId }: RunRef): RunRef {
  return { workflowId, runId }
}

function toToolResult(end: Ended): CallToolResult {
  return 'result' in end ? end.result : openToolResult(end.open, end.unread)
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
  const result = wait.ended.then(toToolResult)
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
    const { reasons } = await explain({ ref: { workflowId } }, unaudited(withTimeout(call, TIMEOUT_MS.request)))
    return [ids, ...reasons.slice(0, 1).map(reasonText)].join(': ')
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
