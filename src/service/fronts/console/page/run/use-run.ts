/** Reads a run, and reads it again while it changes. */

import type { Explanation, Trace } from '../../../../../client/responses.ts'
import { sleep } from '../../../../../shared/lib/abort.ts'
import { grow } from '../../../../../shared/trace-view/grow.ts'
import { isOpen } from '../../../../../shared/wire/execution.ts'
import type { TraceEntry } from '../../../../../shared/wire/trace/entry.ts'
import { ApiError, followEvents, get, runPath } from '../api.ts'
import { useVisible } from '../hooks.ts'
import { useLayoutEffect, useRef, useState } from '../ui.ts'

export type Reason = Explanation['reasons'][number]

export interface ShownRun {
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

const EMPTY: ShownRun = { explanation: null, trace: null, traceError: null, error: null, isFollowing: false }

export function useRun(workflowId: string, runId: string | null): ShownRun & { refresh: () => void } {
  const [state, setState] = useState<ShownRun>(EMPTY)
  const [attempt, setAttempt] = useState(0)
  const change = useRef<() => void>(() => {})
  const isVisible = useVisible()

  // Not `useEffect`, which waits for the next frame.
  useLayoutEffect(() => {
    if (!isVisible) return setState((before) => ({ ...before, isFollowing: false }))
    const controller = new AbortController()
    const { signal } = controller
    const show = (next: Partial<ShownRun>) => signal.aborted || setState((before) => ({ ...before, ...next }))
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
    const entries: TraceEntry[] = []
    const onEntry = (entry: TraceEntry) => {
      entries.push(entry)
      changes.note()
    }
    void followEntries(pinned, historyLength, signal, onEntry, show)
    let { trace } = first
    let mustRead = false
    let pauseMs = MIN_PAUSE_MS
    while (!signal.aborted) {
      await sleep(pauseMs, signal)
      const isChanged = await changes.next(signal)
      const begun = Date.now()
      const grown = grownBy(trace, entries.splice(0))
      mustRead ||= isChanged && grown === null
      trace = grown ?? trace
      show({ trace })
      const next = await readAgain(pinned, mustRead, signal, show)
      if (next === 'over') return
      if (next !== null) [trace, mustRead] = [next, false]
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

type Show = (next: Partial<ShownRun>) => void

/** Null if the whole trace must be read: the history has no spans, and what was left out of the trace stays out. */
function grownBy(trace: Trace | null, entries: readonly TraceEntry[]): Trace | null {
  if (trace === null || trace.source !== 'history' || trace.warnings.length > 0) return null
  const data = grow(trace.data, entries)
  return data === trace.data ? trace : data && { ...trace, data }
}

/** The trace if it was read, or that the run has ended. What cannot be read is read again later. */
async function readAgain(
  ref: RunRef,
  withTrace: boolean,
  signal: AbortSignal,
  show: Show,
): Promise<Trace | null | 'over'> {
  try {
    const { trace, ...next } = await readAll(ref, signal, withTrace)
    show(trace === null ? next : { ...next, trace })
    if (isOpen(next.explanation.run.status)) return trace
    // The last event may have come after the trace was read.
    show({ ...(await readAll(ref, signal)), isFollowing: false })
    return 'over'
  } catch (error) {
    show({ error })
    return null
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

async function followEntries(
  ref: RunRef,
  length: number,
  signal: AbortSignal,
  onEntry: (entry: TraceEntry) => void,
  show: Show,
): Promise<void> {
  const position = { id: `${ref.runId}@${length}`, isOver: false }
  try {
    for await (const { event, data } of followEvents(`${runPath(ref)}/trace-log/stream`, {}, signal, position)) {
      if (event === 'workflow') show({ isFollowing: true })
      else if (event === 'trace') onEntry(data as TraceEntry)
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
): Promise<Omit<ShownRun, 'isFollowing'> & { explanation: Explanation }> {
  const path = runPath(ref)
  const [explanation, traced] = await Promise.all([
    get<Explanation>(`${path}/explain`, {}, signal),
    withTrace ? readTrace(path, signal) : { trace: null, traceError: null },
  ])
  const { runId } = explanation.run
  if (traced.trace !== null && traced.trace.runId !== runId) return readAll({ ...ref, runId }, signal, withTrace)
  return { explanation, ...traced, error: null }
}

async function readTrace(path: string, signal: AbortSignal): Promise<Pick<ShownRun, 'trace' | 'traceError'>> {
  try {
    return { trace: await get<Trace>(`${path}/trace-log`, {}, signal), traceError: null }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { trace: null, traceError: error }
  }
}
