import type { ListedRun, RunPage } from '../../../../../client/responses.ts'
import type { RunCount } from '../../../../model/run-filter.ts'
import { get } from '../api.ts'
import { useReading } from '../hooks.ts'
import { useRef, useState } from '../ui.ts'
import { withFilter } from './run-filter.ts'

export interface RunsState {
  runs: ListedRun[] | null
  nextPageToken: string | null
  count: RunCount | null
  /** How many runs are stuck; null where the engine does not record it. */
  stuck: number | null
  updatedAt: number | null
  error: unknown
  isLoadingMore: boolean
}

const PAGE_SIZE = 50
const REFRESH_MS = 3000
const STUCK_MS = 15_000

const EMPTY: RunsState = {
  runs: null,
  nextPageToken: null,
  count: null,
  stuck: null,
  updatedAt: null,
  error: null,
  isLoadingMore: false,
}

/** The runs that match the filter, read again every few seconds while the page is visible and `isLive`. */
export function useRuns(filter: string, isLive: boolean): RunsState & { loadMore: () => void; retry: () => void } {
  const [state, setState] = useState<RunsState>(EMPTY)
  const stuckAt = useRef(0)
  // What the rows match. Those of another filter are replaced.
  const shown = useRef<string | null>(null)
  const retry = useReading(read, isLive ? REFRESH_MS : null, [filter])

  async function read(signal: AbortSignal): Promise<void> {
    const isFirst = shown.current !== filter
    const parameters = new URLSearchParams(filter)
    const page = new URLSearchParams([...parameters, ['pageSize', String(PAGE_SIZE)]])
    // The counts of the other statuses are shown, too.
    const counted = withFilter(parameters, { status: null, problem: null })
    counted.set('groupBy', 'status')
    try {
      const [first, count] = await Promise.all([
        get<RunPage>('workflow/runs', page, signal),
        get<RunCount>('workflow/runs/count', counted, signal),
      ])
      if (signal.aborted) return
      shown.current = filter
      setState((before) => ({ ...merged(before, first, isFirst), count, error: null, updatedAt: Date.now() }))
      await readStuck(parameters, isFirst, signal)
    } catch (error) {
      if (!signal.aborted) setState((before) => ({ ...before, error }))
    }
  }

  async function readStuck(parameters: URLSearchParams, isFirst: boolean, signal: AbortSignal): Promise<void> {
    if (!isFirst && Date.now() - (stuckAt.current ?? 0) < STUCK_MS) return
    stuckAt.current = Date.now()
    const query = withFilter(parameters, { status: null, problem: 'true' })
    const counted = await get<RunCount>('workflow/runs/count', query, signal).catch(() => null)
    if (!signal.aborted) setState((before) => ({ ...before, stuck: counted?.count ?? null }))
  }

  function loadMore(): void {
    const { nextPageToken } = state
    if (nextPageToken === null || state.isLoadingMore) return
    setState((before) => ({ ...before, isLoadingMore: true }))
    const query = new URLSearchParams([
      ...new URLSearchParams(filter),
      ['pageSize', String(PAGE_SIZE)],
      ['pageToken', nextPageToken],
    ])
    get<RunPage>('workflow/runs', query).then(
      (page) =>
        setState((before) => ({
          ...before,
          runs: appended(before.runs ?? [], page.runs),
          nextPageToken: page.nextPageToken,
          isLoadingMore: false,
        })),
      (error: unknown) => setState((before) => ({ ...before, error, isLoadingMore: false })),
    )
  }

  return { ...state, loadMore, retry }
}

/** Keeps the pages that were loaded after the first one. */
function merged(before: RunsState, first: RunPage, isFirst: boolean): RunsState {
  if (isFirst || before.runs === null || before.runs.length <= PAGE_SIZE) return { ...before, ...first }
  return { ...before, runs: appended(first.runs, before.runs) }
}

/** A run that was listed before its end may be listed again. */
function appended(runs: readonly ListedRun[], more: readonly ListedRun[]): ListedRun[] {
  const known = new Set(runs.map(({ runId }) => runId))
  return [...runs, ...more.filter(({ runId }) => !known.has(runId))]
}
