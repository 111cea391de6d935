/** What is done with each run that is read. A closed run does not change: docs/decisions/027-results-in-memory.md. */
import { type CacheOptions, readThroughCache } from '../../shared/lib/cache.ts'
import { weighedCache } from '../../shared/lib/weighed-cache.ts'
import type { Execution } from '../../shared/wire/execution.ts'
import { backgroundCall, type Call, withinCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { decorated, type Engine } from '../model/engine.ts'
import { hasErrorName } from '../model/errors.ts'
import { type ExecutionRef, toKey } from '../model/execution.ts'

export interface ClosedRunsOptions extends CacheOptions {
  /** Limit on the memory that closed runs may take; 0 keeps none. */
  maxBytes: number
  /** A monotonic clock. */
  now?: () => number
}

// How long a run is returned after the engine has deleted it, or after the codec server decodes its values differently.
const MAX_AGE_MS = 60_000

// The share of the memory for the ids of the latest runs.
const IDS_SHARE = 1 / 16

// The share of the memory that one run may take. A larger one would evict too many others, and take too long to
// measure.
const RUN_SHARE = 1 / 4

/**
 * The engine, decorated: keeps the closed runs that it has read. Which run is the latest is always read from the
 * engine.
 */
export function keepClosedRuns(engine: Engine, options: ClosedRunsOptions): Engine {
  const { maxBytes, onCacheRead, now = () => performance.now() } = options
  const runs = weighedCache<Execution>({ maxBytes, maxAgeMs: MAX_AGE_MS, now })
  // The latest run of each workflow id when it was last read. Only a hint which runs are worth a description.
  const latest = weighedCache<string>({ maxBytes: maxBytes * IDS_SHARE, maxAgeMs: MAX_AGE_MS, now })
  const descriptions = readThroughCache({
    name: 'latest_run',
    read: async (key) => {
      const { runId, status } = await describe(JSON.parse(key), backgroundCall('result', TIMEOUT_MS.describe))
      return { runId, status }
    },
    ttlMs: 0,
    maxKeys: 1000,
    now,
  })

  function keep({ runId: pinned }: ExecutionRef, execution: Execution): void {
    if (!isFinal(execution)) return
    const { workflowId, runId, memo } = execution
    const bytes = memoryOf({ ...execution, memo: [...memo.values()] }, maxBytes * RUN_SHARE)
    if (bytes > maxBytes * RUN_SHARE) return
    // Without the workflow id: as a part of the request's URL, it may keep the URL in memory. Keys are new strings.
    runs.set(toKey({ workflowId, runId }), { ...execution, workflowId: '' }, bytes)
    if (pinned === undefined) latest.set(toKey({ workflowId }), runId, 2 * runId.length)
  }

  function forget({ workflowId, runId = latest.get(toKey({ workflowId })) }: ExecutionRef): void {
    if (runId !== undefined) runs.delete(toKey({ workflowId, runId }))
    latest.delete(toKey({ workflowId }))
  }

  async function forgetIfGone<T>(ref: ExecutionRef, read: Promise<T>): Promise<T> {
    try {
      return await read
    } catch (error) {
      if (hasErrorName(error, 'WorkflowNotFoundError')) forget(ref)
      throw error
    }
  }

  const describe: Engine['describe'] = (ref, call) => forgetIfGone(ref, engine.describe(ref, call))

  async function find(ref: ExecutionRef, call: Call): Promise<Execution | null> {
    const { workflowId, runId = latest.get(toKey({ workflowId })) } = ref
    const kept = runId === undefined ? undefined : runs.get(toKey({ workflowId, runId }))
    if (kept === undefined) return null
    if (ref.runId === undefined && !(await isLatest(kept, ref, call))) {
      forget(ref)
      return null
    }
    return { ...kept, workflowId }
  }

  async function isLatest({ runId, status }: Execution, { workflowId }: ExecutionRef, call: Call): Promise<boolean> {
    // Requested after this request arrived: an earlier description may be of a run that is no longer the latest.
    const { value: current } = await withinCall(descriptions.get(toKey({ workflowId }), now() + 1), call)
    return current.runId === runId && current.status === status
  }

  return decorated(engine, {
    describe,
    async read(ref, call, closing) {
      const kept = await find(ref, call)
      onCacheRead?.('result', kept !== null)
      if (kept !== null) return kept
      const execution = await forgetIfGone(ref, engine.read(ref, call, closing))
      keep(ref, execution)
      return execution
    },
  })
}

/** Whether the run is closed and nothing of it is missing. A value in external storage may be readable later. */
function isFinal({ closing }: Execution): boolean {
  return closing !== null && (closing.outcome.status !== 'completed' || closing.outcome.storedElsewhere === undefined)
}

// Upper bounds for V8, with some room for other engines.
const OBJECT_BYTES = 64
const MEMBER_BYTES = 16
const STRING_BYTES = 24

/** Estimates how many bytes of memory a JSON value takes. Above `limit` the result is only some larger number. */
export function memoryOf(value: unknown, limit: number): number {
  let bytes = 0
  // Not recursive: values may be nested deeper than the call stack.
  const pending = [value]
  while (pending.length > 0 && bytes <= limit) {
    const next = pending.pop()
    if (typeof next === 'string') bytes += STRING_BYTES + 2 * next.length
    if (typeof next !== 'object' || next === null) continue
    const members = Array.isArray(next) ? next : [...Object.keys(next), ...Object.values(next)]
    bytes += OBJECT_BYTES + MEMBER_BYTES * members.length
    if (bytes <= limit) for (const member of members) pending.push(member)
  }
  return bytes
}

/** The engine, decorated: the log line of a request names the run that it has read. */
export function noteRuns(engine: Engine): Engine {
  return decorated(engine, {
    describe: (ref, call) => engine.describe(ref, call).then((run) => noted(ref, run, call)),
    read: (ref, call, closing) => engine.read(ref, call, closing).then((run) => noted(ref, run, call)),
    input: (run, call) => engine.input(run, call).then((input) => noted(run, input, call)),
  })
}

function noted<Read extends { workflowName: string; runId?: string }>(ref: ExecutionRef, read: Read, call: Call): Read {
  call.noteRun?.({ ...ref, ...(read.runId !== undefined && { runId: read.runId }), workflowName: read.workflowName })
  return read
}
