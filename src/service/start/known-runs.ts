import { type CachedValue, type CacheOptions, readThroughCache } from '../../shared/lib/cache.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { WorkerVersion } from '../../shared/wire/worker-version.ts'
import { backgroundCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine, EngineStart } from '../model/engine.ts'
import { type ExecutionRef, toKey } from '../model/execution.ts'
import { readStartKey } from '../model/keyed-id.ts'

/** The part of a run's description that the check of a message needs. Cached for a minute. */
export interface KnownRun {
  runId: string
  workflowName: string
  catalog: string
  open: boolean
  pinnedVersion: WorkerVersion | null
  /** The id of the message that its start carried, if that had an `Idempotency-Key`. */
  carriedId?: string
}

export interface KnownRuns {
  /** The latest run of a workflow id, or the pinned one. With `freshSince` (epoch ms) it is not older than that. */
  read(ref: ExecutionRef, freshSince?: number): CachedValue<KnownRun> | Promise<CachedValue<KnownRun>>
  /** Adds a run that this service has just started, so that a message to it costs no read. */
  add(run: StartedByService): void
}

interface StartedByService
  extends RunRef,
    Pick<KnownRun, 'catalog' | 'workflowName'>,
    Partial<Pick<KnownRun, 'pinnedVersion'>>,
    Pick<EngineStart, 'protocolMemo'> {}

export interface KnownRunsOptions extends CacheOptions {
  engine: Pick<Engine, 'describe'>
}

// A run never changes its type or catalog, but a workflow id may be used again, which is noticed after this time.
const TTL_MS = 60_000

// About 5 MiB with ids of usual length.
const MAX_KNOWN_RUNS = 10_000

export function createKnownRuns({ engine, ...options }: KnownRunsOptions): KnownRuns {
  const runs = readThroughCache({
    name: 'run',
    read: (key) => readKnownRun(engine, JSON.parse(key)),
    ttlMs: TTL_MS,
    maxKeys: MAX_KNOWN_RUNS,
    ...options,
  })
  return {
    read: (ref, freshSince) => runs.get(toKey(ref), freshSince),
    add: ({ workflowId, runId, workflowName, catalog, pinnedVersion = null, protocolMemo = {} }) => {
      const carried = carriedBy(new Map(Object.entries(protocolMemo)))
      runs.set(toKey({ workflowId }), { runId, workflowName, catalog, open: true, pinnedVersion, ...carried })
    },
  }
}

function carriedBy(memo: ReadonlyMap<string, unknown>): Pick<KnownRun, 'carriedId'> {
  const carriedId = readStartKey(memo)?.message
  return carriedId === undefined ? {} : { carriedId }
}

async function readKnownRun(engine: Pick<Engine, 'describe'>, ref: ExecutionRef): Promise<KnownRun> {
  const { runId, workflowName, catalog, status, pinnedVersion, memo } = await engine.describe(
    ref,
    // Each message that shares the read has a limit of its own.
    backgroundCall('known-runs', TIMEOUT_MS.describe),
  )
  return { runId, workflowName, catalog, open: isOpen(status), pinnedVersion, ...carriedBy(memo) }
}
