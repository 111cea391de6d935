/**
 * What is known about the runs of a workflow id: from a cache, for checks of messages, and from the engine, for starts
 * of callers that may not meet every open run of the id (docs/access.md).
 */
import { type CachedValue, type CacheOptions, readThroughCache } from '../../shared/lib/cache.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { WorkerVersion } from '../../shared/wire/worker-version.ts'
import { attachIds } from '../model/attach-ids.ts'
import { backgroundCall, type Call } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { decorated, type Engine, type EngineStart, type StartedRun } from '../model/engine.ts'
import { hasErrorName, nullWhenNotFound } from '../model/errors.ts'
import { type Description, type ExecutionRef, toKey } from '../model/execution.ts'
import { readStartKey } from '../model/keyed-id.ts'
import type { WorkflowOptions } from '../model/workflow-options.ts'

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

interface KnownRunsOptions extends CacheOptions {
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

/** The version that a run is pinned to from its start; null if the engine chooses one. */
export function pinnedVersionOf({ versioningOverride }: WorkflowOptions = {}): WorkerVersion | null {
  return typeof versioningOverride === 'object' ? versioningOverride.pinned : null
}

// How often the run is described, because it has ended, or another one has started, meanwhile.
const MAX_ATTEMPTS = 3

/**
 * The engine, decorated: if a start has `objectionTo`, the open run of its id is described first. What the start does
 * to it is then sent to this run alone, and a new run is only started if none is open. Each new run is known from then
 * on.
 */
export function checkOpenRun(engine: Engine, knownRuns: Pick<KnownRuns, 'add'>): Engine {
  async function remember<Run extends StartedRun | WithMessage>(
    request: EngineStart,
    sent: Promise<Run>,
  ): Promise<Run> {
    const run = await sent
    if (isNew(run)) knownRuns.add({ ...request, ...run })
    return run
  }

  async function findOpen({ workflowId, objectionTo }: EngineStart, call: Call): Promise<Description | null> {
    const run = await engine.describe({ workflowId }, call).catch(nullWhenNotFound)
    if (run === null || !isOpen(run.status)) return null
    const objection = objectionTo?.(run.workflowName) ?? null
    if (objection !== null) throw objection
    return run
  }

  /** `useOpen` resolves with null if the run has ended meanwhile. */
  async function meet<T>(
    request: EngineStart,
    useOpen: (run: Description) => Promise<T | null>,
    startNew: (request: EngineStart) => Promise<T>,
    call: Call,
    attempt = 1,
  ): Promise<T> {
    const open = await findOpen(request, call)
    const used = open === null ? null : await useOpen(open)
    if (used !== null) return used
    try {
      return await startNew({ ...request, options: { ...request.options, workflowIdConflictPolicy: 'fail' } })
    } catch (error) {
      if (!hasErrorName(error, 'WorkflowAlreadyStartedError') || attempt === MAX_ATTEMPTS) throw error
      return meet(request, useOpen, startNew, call, attempt + 1)
    }
  }

  /** If the open run ends meanwhile, the update may have been executed, so it is not sent to another run. */
  function meetWithUpdate<Run extends WithMessage>(
    request: EngineStart,
    sendBoth: (request: EngineStart) => Promise<Run>,
    update: (run: RunRef) => Promise<Run>,
    call: Call,
  ): Promise<Run> {
    const { objectionTo, options: { workflowIdConflictPolicy: policy } = {} } = request
    const send = (request: EngineStart) => remember(request, sendBoth(request))
    if (objectionTo === undefined || policy === 'fail') return send(request)
    return meet(request, ({ workflowId, runId }) => update({ workflowId, runId }), send, call)
  }

  const nullWhenEnded = (error: unknown) => {
    if (hasErrorName(error, 'WorkflowNotRunningError', 'WorkflowNotFoundError')) return null
    throw error
  }

  return decorated(engine, {
    start(request, call) {
      const { objectionTo, options: { workflowIdConflictPolicy: policy = 'fail' } = {} } = request
      if (objectionTo === undefined || policy === 'fail') return remember(request, engine.start(request, call))
      let terminated: RunRef | null = null
      async function useOpen({ workflowId, runId, firstRunId }: Description): Promise<StartedRun | null> {
        if (policy === 'use-existing') return { workflowId, runId, firstRunId, isExisting: true }
        // Nothing is terminated for a start that is too large, or that cannot be encoded.
        await engine.checkStart(request, call)
        await engine.terminate({ workflowId, runId }, null, call).catch(nullWhenEnded)
        terminated = { workflowId, runId }
        return null
      }
      async function startNew(onlyNew: EngineStart): Promise<StartedRun> {
        try {
          return await remember(onlyNew, engine.start(onlyNew, call))
        } catch (error) {
          throw terminated === null ? error : attachIds(error, terminated)
        }
      }
      return meet(request, useOpen, startNew, call)
    },
    signalWithStart(request, message, call) {
      const { workflowId, requestId, objectionTo } = request
      if (objectionTo === undefined) return remember(request, engine.signalWithStart(request, message, call))
      const signal = { ...message, ...(requestId !== undefined && { requestId }) }
      async function useOpen({ runId }: Description) {
        const signaled = await engine.signal({ workflowId, runId }, signal, call).catch(nullWhenEnded)
        return signaled && { workflowId, runId, started: false }
      }
      async function startNew(onlyNew: EngineStart) {
        const { runId } = await remember(onlyNew, engine.start(onlyNew, call))
        const run = { workflowId, runId }
        await engine.signal(run, signal, call).catch((error) => Promise.reject(attachIds(error, run)))
        return { ...run, started: true }
      }
      return meet(request, useOpen, startNew, call)
    },
    updateWithStart: (request, message, updateId, call) =>
      meetWithUpdate(
        request,
        (request) => engine.updateWithStart(request, message, updateId, call),
        async (run) => ({ ...run, started: false, result: await engine.update(run, message, updateId, call) }),
        call,
      ),
    startUpdateWithStart: (request, message, updateId, call) =>
      meetWithUpdate(
        request,
        (request) => engine.startUpdateWithStart(request, message, updateId, call),
        async (run) => ({ ...(await engine.startUpdate(run, message, updateId, call)), started: false }),
        call,
      ),
  })
}

type WithMessage = RunRef & { started: boolean }

/** With a request id of the caller, the run of an earlier request may be closed by now. */
function isNew(run: StartedRun | WithMessage): boolean {
  return 'started' in run ? run.started : !run.isExisting && run.endedStatus === undefined
}
