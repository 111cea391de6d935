import type { Logger, Worker } from '@temporalio/worker'
import type { WorkerTraces } from '../config/worker.ts'
import { createPayloads } from '../engine/payload.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'
import { createKv } from '../store/kv.ts'
import { createEngineCalls } from './engine-calls.ts'
import { createMemoryKv } from './memory-kv.ts'
import type { Redact } from './redact.ts'
import { createRetryQueue } from './retry-queue.ts'
import { createRootRuns, type Root } from './root-runs.ts'
import type { RunWatcher, WatchedRun } from './run-watch.ts'
import { createSpanBuffer } from './span-buffer.ts'
import { createStoreQueue } from './store-queue.ts'
import { createTraceOutbox } from './trace-outbox.ts'
import { traceTargets } from './trace-targets.ts'
import { createTrouble, type Trouble } from './trouble.ts'

export interface TraceKeepingOptions {
  traces: WorkerTraces
  redact: Redact
  logger: Logger
  worker: Worker
}

/** From what a worker sees to what is stored. */
export interface TraceKeeping extends RunWatcher {
  /** Never throws and never waits. */
  record(run: RunRef, entry: TraceEntry): void
  stop(): Promise<void>
}

const SWEEP_EVERY_MS = 10_000
const STOP_WITHIN_MS = 5000
// A replay is over by then, and has ended the run or left it open.
const REPLAY_MS = 1000
const MEMORY_BYTES = 64 * 1024 * 1024

export function keepTraces({ traces, redact, logger, worker }: TraceKeepingOptions): TraceKeeping {
  const { connection } = worker
  if (!connection) throw new Error('A worker without a connection has no engine to read histories from')
  const { namespace, taskQueue: catalog, loadedDataConverter } = worker.options
  const { trouble, tellAll } = createTrouble(logger)
  const engine = createEngineCalls({ connection, namespace })
  const kv = traces.remote?.kvstore ? createKv(traces.remote.kvstore) : createMemoryKv({ maxBytes: MEMORY_BYTES, dropped: told(trouble) })
  const roots = createRootRuns({ engine, catalog })
  const outbox = createTraceOutbox({
    engine,
    kv,
    namespace,
    catalog,
    targets: traceTargets(traces),
    payloads: createPayloads({ codec: toCodec(loadedDataConverter.payloadCodecs), maxBytes: Number.POSITIVE_INFINITY }),
    redact,
    maxBytes: traces.maxBytes,
    trouble,
  })
  const spans = createSpanBuffer({
    redact,
    trouble,
    async send(run, texts) {
      const root = await roots.rootOf(run)
      // What the engine has forgotten nobody will look for.
      if (root !== null) await outbox.append(root, run.runId, texts)
    },
  })
  const queue = createStoreQueue({
    async store(root, endedRunId) {
      await spans.flush()
      return outbox.storeNow(root, endedRunId)
    },
    trouble,
  })

  /** The root of a run that is watched; null for a child, whose root is somebody else's to write down. */
  function ownRoot({ workflowId, firstRunId, catalog, parent, namespace: own }: WatchedRun): Root | null {
    return parent === null || parent.namespace !== own ? { workflowId, rootRunId: firstRunId, catalog } : null
  }

  async function writeDown(run: WatchedRun): Promise<void> {
    const own = ownRoot(run)
    const above = own === null && run.parent !== null ? roots.known(run.parent.runId) : null
    if (above !== null) return roots.learn(run.runId, above)
    if (own !== null) roots.learn(run.runId, own)
    const root = own ?? (await roots.rootOf(run))
    if (isRootOf(root, run)) await outbox.append(root, run.runId, [])
  }

  let sweeping: Promise<void> | null = null
  const sweep = () => {
    sweeping ??= outbox
      .sweep()
      .catch((error) => trouble('The outbox of traces could not be looked through', { error }))
      .finally(() => {
        sweeping = null
      })
  }
  const timer = setInterval(sweep, SWEEP_EVERY_MS).unref()
  sweep()

  const notes = createRetryQueue({ act: writeDown, failed: 'A run could not be written down', trouble })

  /** Runs that are replayed, perhaps because somebody has queried one that ended long ago. */
  const replayed = new Map<string, NodeJS.Timeout>()
  /** Whether it was one. */
  const forgetReplay = ({ runId }: WatchedRun) => {
    clearTimeout(replayed.get(runId))
    return replayed.delete(runId)
  }

  return {
    record: spans.add,
    started(run, isReplay) {
      if (!isReplay) return notes.add(run)
      forgetReplay(run)
      const later = () => {
        replayed.delete(run.runId)
        notes.add(run)
      }
      replayed.set(run.runId, setTimeout(later, REPLAY_MS).unref())
    },
    ended(run, isReplay) {
      const wasReplayed = forgetReplay(run)
      if (isReplay) return
      // One that a reset has made begins with a replay, and may end at once.
      if (wasReplayed) notes.add(run)
      // A child is stored with its root, or by the sweep when that has ended before.
      const root = roots.known(run.runId) ?? ownRoot(run)
      if (isRootOf(root, run)) queue.add(root, run.runId)
    },
    async stop() {
      clearInterval(timer)
      for (const replay of replayed.values()) clearTimeout(replay)
      const ending = (async () => {
        await notes.stop()
        await spans.stop()
        await queue.stop()
        await sweeping
      })()
      await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, STOP_WITHIN_MS).unref())])
      const [dropped, unnoted, unstored] = [spans, notes, queue].map((each) => each.left())
      if (dropped || unnoted || unstored) {
        trouble('The worker ends: spans and new runs are dropped, what is not stored is left to other workers', {
          dropped,
          unnoted,
          unstored,
        })
      }
      await kv.close()
      tellAll()
    },
  }
}

function isRootOf(root: Root | null, { workflowId, firstRunId }: WatchedRun): root is Root {
  return root?.workflowId === workflowId && root.rootRunId === firstRunId
}

function told(trouble: Trouble) {
  return (dropped: number) =>
    trouble('Spans were dropped: there is no key-value store, and memory is bounded', { dropped, maxBytes: MEMORY_BYTES })
}

type Codecs = Worker['options']['loadedDataConverter']['payloadCodecs']

/** The worker's own codecs, the last one first, as they decode. */
function toCodec(codecs: Codecs): Parameters<typeof createPayloads>[0]['codec'] {
  if (codecs.length === 0) return null
  return {
    encode: async (payloads) => payloads,
    async decode(payloads) {
      let decoded = payloads as Parameters<Codecs[number]['decode']>[0]
      for (const codec of codecs.toReversed()) decoded = await codec.decode(decoded)
      return decoded
    },
  }
}
