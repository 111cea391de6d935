/**
 * Pins the requests of a handle to a run. A request that is sent again to the workflow id could reach a later run:
 * docs/decisions/042-waits-of-the-client.md
 */
import { withDeadline } from '../shared/lib/abort.ts'
import { sharesPromises } from '../shared/lib/single-flight.ts'
import type { Connection } from './connection/connection.ts'
import type { CallOptions } from './connection/options.ts'
import { noResponse } from './connection/retry-delay.ts'
import { PorticoError } from './portico-error.ts'
import { type ActivityTarget, pathOf, type Target } from './target.ts'

/** Sends a request below the path of a run. */
type Send<Body> = (path: string, options: CallOptions) => Promise<Body>

export interface RunOfHandle {
  /**
   * Calls `send` with the path of the latest run. If that has ended in the meantime, and has received nothing, `send`
   * is called again with the run that follows.
   */
  onOpenRun<Body>(send: Send<Body>, options: CallOptions): Promise<Body>
  /** Calls `send` once, with the path of the run that is the latest one now, open or closed. */
  onLatestRun<Body>(send: Send<Body>, options: CallOptions): Promise<Body>
}

// How often a request is sent to a workflow that continues as a new run each time.
const MAX_RUNS = 5

export function createRunOfHandle(connection: Connection, target: ActivityTarget | Target): RunOfHandle {
  const { isPinned } = target
  let known = target.runId
  let pending: Promise<string> | undefined

  /**
   * Reads which run is the latest. Parallel calls share one request, but each has its own deadline and error. `ended`
   * is a run that has ended: if a shared request returns it, that request was too early.
   */
  async function readLatest(
    { signal, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions,
    ended?: string,
  ): Promise<string> {
    const deadlineAt = Date.now() + timeoutMs
    const path = `${pathOf({ ...target, isPinned: false })}/status`
    if (pending && sharesPromises()) {
      const shared = withDeadline(pending, deadlineAt, signal ?? new AbortController().signal)
      const runId = await shared.catch(() => null)
      if (runId !== null && runId !== ended) return runId
      signal?.throwIfAborted()
      if (Date.now() >= deadlineAt) throw noResponse(`GET ${path}`, timeoutMs)
    }
    const rest = { signal, timeoutMs: deadlineAt - Date.now() }
    const reading = connection.send<{ runId: string }>({ method: 'GET', path }, rest).then(({ runId }) => runId)
    pending = reading
    try {
      known = await reading
      return known
    } finally {
      if (pending === reading) pending = undefined
    }
  }

  const pathOfRun = (runId: string | undefined) => pathOf({ ...target, runId, isPinned: true })

  return {
    async onOpenRun(send, options) {
      const rest = countdown(options)
      let runId = known ?? (await readLatest(rest()))
      for (let runs = 1; ; runs++) {
        try {
          return await send(pathOfRun(runId), rest())
        } catch (error) {
          if (isPinned || runs === MAX_RUNS || !wasRejected(error)) throw error
          const latest = await readLatest(rest(), runId)
          if (latest === runId) throw error
          runId = latest
        }
      }
    },
    async onLatestRun(send, options) {
      const rest = countdown(options)
      return send(pathOfRun(isPinned ? known : await readLatest(rest())), rest())
    },
  }
}

/** Whether the run did not exist or had ended, so that it has received nothing. With an update id it may have. */
function wasRejected(error: unknown): boolean {
  if (!(error instanceof PorticoError) || error.mayHaveTakenEffect || error.updateId !== undefined) return false
  return error.error === 'WorkflowNotRunningError' || error.error === 'WorkflowNotFoundError'
}

/** The options with the time that is left. */
export function countdown({ signal, timeoutMs }: CallOptions): () => CallOptions {
  if (timeoutMs === undefined) return () => ({ signal })
  const deadlineAt = Date.now() + timeoutMs
  return () => ({ signal, timeoutMs: Math.max(0, deadlineAt - Date.now()) })
}
