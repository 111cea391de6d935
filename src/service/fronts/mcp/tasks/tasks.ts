/** Tasks of the extension `io.modelcontextprotocol/tasks`. Their store is the engine: a task is a chain of runs. */

import { sleep } from '../../../../shared/lib/abort.ts'
import type { Limiter } from '../../../../shared/lib/limiter.ts'
import { mapConcurrent } from '../../../../shared/lib/map-concurrent.ts'
import type { Answer } from '../../../../shared/wire/asks.ts'
import { workflowIdIssue } from '../../../../shared/wire/names.ts'
import { parsePosition, positionId } from '../../../../shared/wire/position.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { type Call, withTimeout } from '../../../model/call.ts'
import type { ChainState, EndedChain, OpenChain } from '../../../model/chain-state.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../../../model/errors.ts'
import { reasonText } from '../../../model/explanation.ts'
import { parseAsks } from '../../../model/question.ts'
import type { Workflows } from '../../../verbs.ts'
import { JsonRpcError, RPC_CODES } from '../rpc-error.ts'
import { type InputRequest, toAnswers, toInputRequests } from './asks.ts'

interface TaskFacts {
  taskId: string
  statusMessage?: string
  /** ISO 8601. */
  createdAt: string
  lastUpdatedAt: string
  /** Null: the engine's retention decides. */
  ttlMs: null
  pollIntervalMs?: number
}

/** `DetailedTask` of the extension. */
export type Task = TaskFacts &
  (
    | { status: 'working' | 'cancelled' }
    | { status: 'input_required'; inputRequests: Record<string, InputRequest> }
    | { status: 'completed'; result: object }
    | { status: 'failed'; error: { code: number; message: string } }
  )

/** The result of `tools/call` for a chain that has ended. */
export type ToToolResult = (ended: EndedChain, call: Call) => object | Promise<object>

/** The task of a run that has just been started or found. */
export function newTask(run: RunRef, now = new Date()): Task {
  const createdAt = now.toISOString()
  return {
    taskId: taskIdOf(run),
    status: 'working',
    createdAt,
    lastUpdatedAt: createdAt,
    ttlMs: null,
    pollIntervalMs: MIN_POLL_MS,
  }
}

/** The state of a task. Rejects with an `JsonRpcError` if there is no such task, and with the errors of `readChain`. */
export function getTask(
  workflows: Pick<Workflows, 'readChain'>,
  taskId: unknown,
  toToolResult: ToToolResult,
  call: Call,
): Promise<Task> {
  return onTask(taskId, call, async (run, call) => {
    const chain = await workflows.readChain({ ref: run }, call)
    return chain.kind === 'open' ? openTask(run, chain, call) : endedTask(run, chain, toToolResult, call)
  })
}

async function openTask(run: RunRef, chain: OpenChain, call: Call): Promise<Task> {
  const now = Date.now()
  const { startedAt } = chain
  const open = {
    ...newTask(run, startedAt ?? undefined),
    pollIntervalMs: pollIntervalMs(startedAt === null ? 0 : now - startedAt.getTime()),
  }
  const asks = parseAsks(chain.asks)
  if (asks.size > 0) {
    const statusMessage = [...asks.values()].map(({ message }) => message).join('; ')
    return { ...open, status: 'input_required', statusMessage, inputRequests: toInputRequests(asks) }
  }
  const reason = await chain.explain(call)
  if (reason === null) return open
  const lastUpdatedAt = reason.since?.toISOString() ?? open.lastUpdatedAt
  return { ...open, lastUpdatedAt, statusMessage: reasonText(reason) }
}

async function endedTask(
  run: RunRef,
  chain: Exclude<ChainState, OpenChain>,
  toToolResult: ToToolResult,
  call: Call,
): Promise<Task> {
  const { pollIntervalMs: _, ...created } = newTask(run, chain.startedAt ?? chain.endedAt ?? undefined)
  const ended = { ...created, lastUpdatedAt: chain.endedAt?.toISOString() ?? created.lastUpdatedAt }
  if (chain.kind === 'unreadable') {
    const { message } = chain.error
    return { ...ended, status: 'failed', statusMessage: message, error: { code: RPC_CODES.internalError, message } }
  }
  const { status, error } = chain.result
  if (status === 'canceled') return { ...ended, status: 'cancelled', ...(error !== null && { statusMessage: error }) }
  // Clients reject a result without `resultType`.
  const result = { resultType: 'complete', ...(await toToolResult(chain, call)) }
  return { ...ended, status: 'completed', result }
}

const MIN_POLL_MS = 1000
const MAX_POLL_MS = 30_000

/** A twentieth of the age, so that a client learns of the end at most 5 % late. */
function pollIntervalMs(ageMs: number): number {
  return Math.round(Math.min(Math.max(ageMs / 20, MIN_POLL_MS), MAX_POLL_MS))
}

// The wait begins again after this time, and after an error.
const WAIT_MS = 3_600_000
const PAUSE_AFTER_ERROR_MS = 1000
const MAX_PAUSE_AFTER_ERROR_MS = 30_000

/**
 * Waits for the end of the task, also through outages. False if there is no such task, or when the call is aborted.
 * `limit` limits how many tasks are read at the same time; it does not limit waits.
 */
export async function awaitTask(
  workflows: Pick<Workflows, 'readChain' | 'result'>,
  taskId: unknown,
  limit: Limiter,
  call: Call,
): Promise<boolean> {
  const begin = () => limit(() => beginWait(workflows, taskId, call))
  const ended = await readThroughOutages(call, async () => {
    // Read again after each wait: after a reset, the chain has a new run.
    for (let { wait } = await begin(); wait !== null && !call.signal.aborted; { wait } = await begin()) await wait
    return !call.signal.aborted
  })
  return ended === true
}

/** Repeats a read of a task until it succeeds. Null if there is no such task, or when the call is aborted. */
export async function readThroughOutages<T>({ signal }: Call, read: () => Promise<T>): Promise<T | null> {
  let failures = 0
  while (!signal.aborted) {
    try {
      return await read()
    } catch (error) {
      if (error instanceof JsonRpcError) return null
      if (!(error instanceof ServiceError)) throw error
      await sleep(Math.min(PAUSE_AFTER_ERROR_MS * 2 ** failures, MAX_PAUSE_AFTER_ERROR_MS), signal)
      // The end of a long wait is not a failure.
      failures = hasErrorName(error, 'WorkflowExecutionTimedOutError') ? 0 : failures + 1
    }
  }
  return null
}

/** Returns the wait for the end of the task once it has begun; null if the task has ended. */
async function beginWait(
  { readChain, result }: Pick<Workflows, 'readChain' | 'result'>,
  taskId: unknown,
  call: Call,
): Promise<{ wait: Promise<unknown> | null }> {
  const chain = await onTask(taskId, call, (ref, call) => readChain({ ref }, call))
  if (chain.kind !== 'open') return { wait: null }
  const { workflowId, runId } = chain
  const { promise: begun, resolve: onFound } = Promise.withResolvers<RunRef>()
  const command = { ref: { workflowId, runId }, followsChain: true, waitMs: WAIT_MS, onFound }
  const wait = result(command, withTimeout(call, TIMEOUT_MS.request))
  await Promise.race([begun, wait])
  return { wait }
}

// A workflow may continue as new, instead of ending, each time when it is canceled.
const MAX_CANCELED_RUNS = 3

/** Requests cancellation of the last run of the chain. Does nothing if it has ended. */
export function cancelTask(
  workflows: Pick<Workflows, 'readChain' | 'stop'>,
  taskId: unknown,
  call: Call,
): Promise<void> {
  return onTask(taskId, call, async (run, call) => {
    let chain = await workflows.readChain({ ref: run }, call)
    for (let canceled = 0; canceled < MAX_CANCELED_RUNS && chain.kind === 'open'; canceled++) {
      const { workflowId, runId } = chain
      // Pinned, so that it never reaches another chain that uses the workflow id by then.
      await workflows.stop({ ref: { workflowId, runId }, reason: 'tasks/cancel' }, call)
      chain = await workflows.readChain({ ref: run }, call)
      if (chain.runId === runId) return
    }
  })
}

const ANSWERED_MS = 1000
const PAUSE_MS = 100

const MAX_CONCURRENT_ANSWERS = 8

/**
 * Sends answers to the run, and waits up to a second until it has taken them. Rejects with a `JsonRpcError` if another
 * answer to one of the questions is recorded.
 */
export function updateTask(
  workflows: Pick<Workflows, 'answer' | 'readChain'>,
  taskId: unknown,
  inputResponses: unknown,
  call: Call,
): Promise<void> {
  return onTask(taskId, call, async (run, call) => {
    const chain = await workflows.readChain({ ref: run }, call)
    const asks = openAsks(chain)
    const answers = toAnswers(asks, inputResponses)
    await mapConcurrent(answers, MAX_CONCURRENT_ANSWERS, (answer) => sendAnswer(workflows, chain, answer, call))
    if (answers.some(({ key }) => asks.has(key))) await untilTaken(workflows, run, answers, call)
  })
}

async function untilTaken(
  { readChain }: Pick<Workflows, 'readChain'>,
  run: RunRef,
  answers: readonly Answer[],
  call: Call,
): Promise<void> {
  const until = Math.min(call.deadlineAt, Date.now() + ANSWERED_MS)
  try {
    while (Date.now() < until && !call.signal.aborted) {
      const asks = openAsks(await readChain({ ref: run }, call))
      if (answers.every(({ key }) => !asks.has(key))) return
      await sleep(PAUSE_MS, call.signal)
    }
  } catch (error) {
    // The answers have been delivered, even if it cannot be read whether the run has taken them.
    if (!(error instanceof ServiceError)) throw error
    call.note({ answerUnread: error })
  }
}

function openAsks(chain: ChainState): ReturnType<typeof parseAsks> {
  return parseAsks(chain.kind === 'open' ? chain.asks : undefined)
}

/** Sends the answer to the run whose memo has the question. */
async function sendAnswer(
  { answer }: Pick<Workflows, 'answer'>,
  { workflowId, runId }: RunRef,
  { key, content }: Answer,
  call: Call,
): Promise<void> {
  try {
    await answer({ ref: { workflowId, runId }, key, content, pointer: `/inputResponses/${key}` }, call)
  } catch (error) {
    // The question does not exist any more, perhaps because the run has ended. The protocol ignores such answers.
    if (!hasErrorName(error, 'QuestionNotFoundError', 'WorkflowNotRunningError')) throw error
  }
}

/** Calls `act` with the run of the task and a new deadline: a long request, such as a subscription, does this often. */
async function onTask<T>(taskId: unknown, call: Call, act: (run: RunRef, call: Call) => Promise<T>): Promise<T> {
  const run = parseTaskId(taskId)
  try {
    return await act(run, withTimeout(call, TIMEOUT_MS.request))
  } catch (error) {
    if (hasErrorName(error, 'WorkflowNotFoundError')) throw unknownTask(error)
    if (!hasErrorName(error, 'ForbiddenError', 'QuestionAnsweredError', 'ValidationError')) throw error
    const { issues, key, at } = error.details
    const data = issues ? { issues } : error.error === 'QuestionAnsweredError' ? { name: error.error, key, at } : null
    throw new JsonRpcError(RPC_CODES.invalidParams, error.message, { cause: error, ...(data && { data }) })
  }
}

/** The ids of the run, so that every replica can read the task from the engine. */
export function taskIdOf({ workflowId, runId }: RunRef): string {
  return positionId({ workflowId, runId, last: null })
}

/** Throws an `JsonRpcError` for what `taskIdOf` cannot have returned. */
export function parseTaskId(taskId: unknown): RunRef {
  const { workflowId = '', runId = '' } = (typeof taskId === 'string' && parsePosition(taskId)) || {}
  const run = { workflowId, runId }
  if (workflowIdIssue(workflowId) !== null || taskIdOf(run) !== taskId) throw unknownTask()
  return run
}

/** The error for a task that does not exist, or whose run was deleted. */
export function unknownTask(cause?: unknown): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidParams, 'Unknown task: params.taskId does not name a run', { cause })
}
