/** Reads a run, and reads it again while it changes. */

import type { Explanation, Trace } from '../../../../../client/responses.ts'
import { sleep } from '../../../../../shared/lib/abort.ts'
import { isOpen } from '../../../../../shared/wire/execution.ts'
import { ApiError, follow, get, runPath } from '../api.ts'
import { useVisible } from '../hooks.ts'
import { useLayoutEffect, useRef, useState } from '../ui.ts'

export type Reason = Explanation['reasons'][number]

export interface RunState {
  explanation: Explanation | null
  trace: Trace | null
  traceError: unknown
  error: unknown
  /** Whether new events arrive by themselves. */
  isFollowing: boolean
}

const MIN_PAUSE_MS = 1000
// Building the trace of a long run takes its time; it must not be built again all the time.
const PAUSE_PER_LATENCY = 5
// Heartbeats and retries leave no events in the history.
const POLL_MS = 3000

const EMPTY: RunState = { explanation: null, trace: null, traceError: null, error: null, isFollowing: false }

export function useRun(workflowId: string, runId: string | null): RunState & { refresh: () => void } {
  const [state, setState] = useState<RunState>(EMPTY)
  const [attempt, setAttempt] = useState(0)
  const change = useRef<() => void>(() => {})
  const isVisible = useVisible()

  // Not `useEffect`, which waits for the next frame.
  useLayoutEffect(() => {
    if (!isVisible) return setState((before) => ({ ...before, isFollowing: false }))
    const controller = new AbortController()
    const { signal } = controller
    const show = (next: Partial<RunState>) => signal.aborted || setState((before) => ({ ...before, ...next }))
    void read({ workflowId, runId }, signal, show).catch((error: unknown) => show({ error }))
    return () => controller.abort()
  }, [workflowId, runId, attempt, isVisible])

  async function read(ref: RunRef, signal: AbortSignal, show: Show): Promise<void> {
    const first = await readAll(ref, signal)
    show(first)
    const { runId, status, historyLength } = first.explanation.run
    if (!isOpen(status)) return show({ isFollowing: false })
    const pinned = { workflowId, runId }
    const changes = createChanges()
    change.current = changes.note
    void followEvents(pinned, historyLength, signal, changes.note, show)
    let pauseMs = MIN_PAUSE_MS
    while (!signal.aborted) {
      await sleep(pauseMs, signal)
      const isChanged = await changes.next(signal)
      const begun = Date.now()
      const isOver = await readAgain(pinned, isChanged, signal, show)
      if (isOver) return
      pauseMs = Math.max(MIN_PAUSE_MS, PAUSE_PER_LATENCY * (Date.now() - begun))
    }
  }

  return {
    ...state,
    refresh: () => {
      const { error, explanation } = state
      if (error === null && explanation !== null && isOpen(explanation.run.status)) change.current?.()
      else setAttempt((before) => before + 1)
    },
  }
}

interface RunRef {
  workflowId: string
  runId: string | null
}

type Show = (next: Partial<RunState>) => void

/** Whether the run has ended. What cannot be read is read again later. */
async function readAgain(ref: RunRef, withTrace: boolean, signal: AbortSignal, show: Show): Promise<boolean> {
  try {
    const { trace, ...next } = await readAll(ref, signal, withTrace)
    show(trace === null ? next : { ...next, trace })
    if (isOpen(next.explanation.run.status)) return false
    // The last event may have come after the trace was read.
    show({ ...(await readAll(ref, signal)), isFollowing: false })
    return true
  } catch (error) {
    show({ error })
    return false
  }
}

interface Changes {
  note: () => void
  /** Waits for a change, for a moment. Whether there was one. */
  next: (signal: AbortSignal) => Promise<boolean>
}

function createChanges(): Changes {
  let isChanged = false
  let resume = () => {}
  return {
    note() {
      isChanged = true
      resume()
    },
    async next(signal) {
      const changed = new Promise<void>((resolve) => {
        resume = resolve
      })
      if (!isChanged) await Promise.race([sleep(POLL_MS, signal), changed])
      const was = isChanged
      isChanged = false
      return was
    },
  }
}

async function followEvents(ref: RunRef, length: number, signal: AbortSignal, note: () => void, show: Show) {
  const position = { id: `${ref.runId}@${length}`, isOver: false }
  try {
    for await (const { event } of follow(
      `${runPath(ref)}/history/stream`,
      { includePayloads: 'false' },
      signal,
      position,
    )) {
      if (event === 'workflow') show({ isFollowing: true })
      else note()
    }
  } catch {
    // The run is polled all the same.
  }
  show({ isFollowing: false })
}

/** Without a run id the two requests could be about two runs. */
async function readAll(
  ref: RunRef,
  signal: AbortSignal,
  withTrace = true,
): Promise<Omit<RunState, 'isFollowing'> & { explanation: Explanation }> {
  const path = runPath(ref)
  const [explanation, traced] = await Promise.all([
    get<Explanation>(`${path}/explain`, {}, signal),
    withTrace ? readTrace(path, signal) : { trace: null, traceError: null },
  ])
  const { runId } = explanation.run
  if (traced.trace !== null && traced.trace.runId !== runId) return readAll({ ...ref, runId }, signal, withTrace)
  return { explanation, ...traced, error: null }
}

async function readTrace(path: string, signal: AbortSignal): Promise<Pick<RunState, 'trace' | 'traceError'>> {
  try {
    return { trace: await get<Trace>(`${path}/trace-log`, {}, signal), traceError: null }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { trace: null, traceError: error }
  }
}
