import type { Call } from '../../domain/call.ts'
import type { Closing, RunRef } from '../../domain/execution.ts'
import { pause } from '../../domain/pause.ts'
import { HistoryEventFilterType } from '../enum-numbers.ts'
import { isTransient, toServiceError } from '../errors.ts'
import { toClosing } from '../outcome.ts'
import { RpcError } from '../transport/transport.ts'
import { factsOf, toExecution, type Wire } from './wire.ts'

// The engine holds a poll for 20 s, but answers at once when less than a second of its deadline is left:
// each poll gets a deadline of its own, and the caller's cuts it short.
const POLL_DEADLINE_MS = 30_000

// A paused run answers each poll at once; an engine in trouble or at its limit must not be hurried.
const REST_MS = 1000

export async function wait(wire: Wire, run: RunRef, call: Call): Promise<Closing | null> {
  while (!call.signal.aborted && Date.now() < call.deadlineAt) {
    const polledAt = Date.now()
    const closing = await poll(wire, run, call)
    if (closing !== null) return closing
    if (Date.now() - polledAt < REST_MS) await pause(Math.min(REST_MS, Math.max(0, call.deadlineAt - Date.now())), call.signal)
  }
  return null
}

/** Null when the run is still open, for whatever reason the poll came back. */
async function poll({ rpc, namespace, payloads }: Wire, run: RunRef, call: Call): Promise<Closing | null> {
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
      { longPoll: true },
    )
    return await toClosing(history?.events ?? [], payloads)
  } catch (error) {
    if (cut.signal.aborted) return null
    if (!(error instanceof RpcError && isTransient(error))) throw toServiceError(error, { kind: 'read', facts: factsOf(run) })
    call.note({ waitInterrupted: error })
    return null
  } finally {
    cut.release()
  }
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
