import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { ServiceError } from '../../domain/errors.ts'
import { sleep } from '../../lib/abort.ts'
import type { Closing } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { HistoryEventFilterType } from '../../temporal/enums.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import { type EngineContext, executionIds, toExecution } from '../context.ts'
import { isRetryable, isTransient, toServiceError } from '../errors.ts'
import { readClosing } from '../read-closing.ts'
import { RpcError } from '../transport/transport.ts'
import { describe } from './describe.ts'
import { closingOf } from './read.ts'

// The engine holds a poll for 20 s, but answers at once when less than a second of its deadline is left:
// each poll gets a deadline of its own, and the caller's cuts it short.
const POLL_DEADLINE_MS = 30_000

// A paused run answers each poll at once; an engine in trouble or at its limit must not be hurried.
const REST_MS = 1000
const MAX_REST_MS = 5000

export async function wait(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  let interruptions = 0
  while (!isOver(call)) {
    const polledAt = Date.now()
    try {
      const closing = await poll(context, run, call)
      if (closing !== null) return closing
      interruptions = 0
    } catch (error) {
      if (isOver(call)) return null
      if (!isInterruption(error)) throw toServiceError(error, { kind: 'read', facts: executionIds(run) })
      call.note({ waitInterrupted: error })
      interruptions = isOutage(error) ? 0 : interruptions + 1
      // An engine that refuses polls answers everything else: the run may have ended meanwhile.
      const closing = isRefusal(error) ? await look(context, run, call) : null
      if (closing !== null) return closing
    }
    const restMs = Math.min(REST_MS * Math.max(1, interruptions), MAX_REST_MS)
    if (Date.now() - polledAt < restMs)
      await sleep(Math.min(restMs, Math.max(0, call.deadlineAt - Date.now())), call.signal)
  }
  return null
}

function isOver({ signal, deadlineAt }: Call): boolean {
  return signal.aborted || Date.now() >= deadlineAt
}

/** Null when the poll came back and the run is still open. */
async function poll({ rpc, namespace, payloads }: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  const cut = cutAt(call)
  try {
    const { history } = await rpc(
      'getWorkflowExecutionHistory',
      {
        namespace,
        execution: toExecution(run),
        historyEventFilterType: HistoryEventFilterType.CLOSE_EVENT,
        waitNewEvent: true,
      },
      { ...call, signal: cut.signal, deadlineAt: Date.now() + POLL_DEADLINE_MS },
    )
    return await readClosing(history?.events ?? [], payloads, run.workflowId)
  } finally {
    cut.release()
  }
}

/** How the run ended, without a long poll; null while it is open, and when it could not be read just now. */
async function look(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  const brief = atMost(call, TIMEOUT_MS.describe)
  try {
    return await closingOf(context, await describe(context, run, brief), brief)
  } catch (error) {
    const translated = toServiceError(error, { kind: 'read', facts: executionIds(run) })
    if (isInterruption(translated)) return null
    throw translated
  }
}

const INTERRUPTIONS = new Set(['EngineUnavailableError', 'PayloadCodecError', 'ResourceExhaustedError'])

/** Whether the same call may well succeed later: a wait continues after such an error. */
function isInterruption(error: unknown): boolean {
  if (error instanceof ServiceError) return INTERRUPTIONS.has(error.error)
  // CANCELLED: our own cut of a poll that was not answered in its time.
  return error instanceof RpcError && (isTransient(error) || error.code === GrpcCode.CANCELLED)
}

/** Whether the engine is out of reach for a moment. */
function isOutage(error: unknown): boolean {
  return error instanceof RpcError && isRetryable(error)
}

/** Whether the poll alone was refused, or left unanswered: a look at the run may succeed. */
function isRefusal(error: unknown): boolean {
  return error instanceof RpcError && !isRetryable(error)
}

/** A signal that aborts with the caller's or at its deadline. */
function cutAt({ signal, deadlineAt }: Call): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, Math.min(deadlineAt - Date.now(), POLL_DEADLINE_MS))
  signal.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
