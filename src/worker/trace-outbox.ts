import type { RunRef } from '../protocol/run-ref.ts'
import { outboxKey, parseOutboxMember, type RootRun, spansKey, toOutboxMember } from '../protocol/trace-keys.ts'
import type { KvStore, ReadList } from '../store/kv.ts'
import type { OutboxMember } from '../store/kv-reader.ts'
import type { StoreCall } from '../store/store-call.ts'
import type { EngineCalls, RunFacts } from './engine-calls.ts'
import { inTurn } from './in-turn.ts'
import type { Root } from './root-runs.ts'
import { type TraceWriterOptions, writeTrace } from './trace-writer.ts'

export interface TraceOutboxOptions extends Omit<TraceWriterOptions, 'engine' | 'kv'> {
  engine: EngineCalls
  kv: KvStore
  namespace: string
  /** Whose outbox is swept. */
  catalog: string
  now?: () => number
}

export interface TraceOutbox {
  /** Writes the root down as one whose trace is to be stored, together with spans of a run that is told in it. */
  append(root: Root, runId: string, texts: readonly string[]): Promise<void>
  /** Looks after the roots that are due, each of which is then this worker's alone for a while. */
  sweep(): Promise<void>
  /** Stores the trace of a run that has just ended. False when it is too early: the engine does not know yet, or another worker is at it. */
  storeNow(root: Root, endedRunId: string): Promise<boolean>
}

const SECOND = 1000
const DAY = 24 * 3600 * SECOND

const MEMBERS_A_SWEEP = 100
// How long a claim holds, and when the next look at an open run is due.
const CLAIM_MS = 30 * SECOND
const LIST_TTL_MS = 7 * DAY
const FORGOTTEN_AFTER_MS = 7 * DAY
const KEEP_EVERY_MS = DAY / 2
const MAX_BACKOFF_MS = 300 * SECOND
const STORE_TIMEOUT_MS = 5 * SECOND

// Who sees a run end stores it: for so long nobody else does.
const OWN_FIRST_MS = 5 * SECOND
const AT_ONCE = 8
const MAX_REMEMBERED = 10_000

/** What this worker remembers of a root between two looks; another worker begins anew. */
interface Memory {
  failures: number
  /** When its lists were last given their whole time to live. At first any time: workers that live for minutes do it as often, together. */
  keptAt: number
  /** The run that was open when the trace was last stored. */
  openRunId: string | null
}

export function createTraceOutbox(options: TraceOutboxOptions): TraceOutbox {
  const { engine, kv, namespace, catalog, trouble, now = Date.now } = options
  const memories = new Map<string, Memory>()
  const busy = new Map<string, Promise<void>>()
  const call = (): StoreCall => ({ signal: new AbortController().signal, deadlineAt: Date.now() + STORE_TIMEOUT_MS })

  function memberOf(root: RootRun, of = catalog): OutboxMember {
    return { outbox: outboxKey(namespace, of), member: toOutboxMember(root) }
  }

  function remember(key: string, change: Partial<Memory>): Memory {
    const memory = { failures: 0, keptAt: now() - Math.random() * KEEP_EVERY_MS, openRunId: null, ...memories.get(key), ...change }
    memories.delete(key)
    memories.set(key, memory)
    const [oldest] = memories.keys()
    if (memories.size > MAX_REMEMBERED && oldest !== undefined) memories.delete(oldest)
    return memory
  }

  /** Stores what there is; what has ended is then out of the store. */
  async function store(root: RootRun, member: OutboxMember, newest: RunRef, isOpen: boolean): Promise<void> {
    const { ended, open } = await writeTrace(root, newest, options, call)
    const isDone = !isOpen && open.length === 0
    // The empty member is nobody: the lists alone are settled, the root stays.
    const settled = await kv.settle(isDone ? member : { ...member, member: '' }, [...ended, missingList(root)], call())
    if (isDone && settled) return void memories.delete(member.member)
    if (open.length > 0) await kv.keep(open, LIST_TTL_MS, call())
    remember(member.member, { failures: 0, keptAt: now(), openRunId: isOpen ? newest.runId : null })
    await kv.postpone(member, settled ? CLAIM_MS : SECOND, call())
  }

  async function lookAfter(root: RootRun, member: OutboxMember, openRunId: string | null): Promise<void> {
    const memory = remember(member.member, {})
    const isKept = now() - memory.keptAt < KEEP_EVERY_MS
    if (openRunId !== null && isKept && openRunId === (memory.openRunId ?? root.rootRunId)) return release(member)
    const newest = await newestLink(root)
    if (newest === null) return forget(root, member)
    const ageMs = newest.closedAt === null ? Number.POSITIVE_INFINITY : now() - newest.closedAt
    // Where this clock is behind the engine's, a run seems to end in time to come: nobody knows for how long.
    if (ageMs >= 0 && ageMs < OWN_FIRST_MS) return release(member, OWN_FIRST_MS)
    if (newest.isOpen && isKept && newest.runId === (memory.openRunId ?? root.rootRunId)) return release(member)
    await store(root, member, newest, newest.isOpen)
  }

  async function release(member: OutboxMember, forMs = CLAIM_MS): Promise<void> {
    await kv.postpone(member, forMs, call())
  }

  /** The last run of the chain; null when the engine knows none of it. */
  async function newestLink(root: RootRun): Promise<RunFacts | null> {
    const latest = await engine.describe({ workflowId: root.workflowId })
    if (latest === null || latest.firstRunId === root.rootRunId) return latest
    // The id has been used again since.
    let link = await engine.describe({ workflowId: root.workflowId, runId: root.rootRunId })
    for (let next = link; next !== null; ) {
      link = next
      const nextRunId = await engine.nextRunId(link)
      next = nextRunId === null ? null : await engine.describe({ workflowId: root.workflowId, runId: nextRunId })
    }
    return link
  }

  /** Drops what the engine has not known for a week. Since when it has not, the store remembers in a list that nobody else reads. */
  async function forget(root: RootRun, member: OutboxMember): Promise<void> {
    const missing = missingList(root)
    const [since] = (await kv.readList(missing.key, { left: 1024 }, call())).values
    if (since === undefined) {
      await kv.append({ list: missing.key, values: [String(now())], ttlMs: LIST_TTL_MS + DAY, open: null }, call())
    } else if (now() - Number(since) >= FORGOTTEN_AFTER_MS) {
      await kv.settle(member, [missing, { key: spansKey(root.rootRunId), length: Number.MAX_SAFE_INTEGER }], call())
      trouble('Spans were dropped: the engine no longer knows their run', { ...root })
      return
    }
    await release(member, MAX_BACKOFF_MS)
  }

  /** One after the other for each root: two would write over each other. */
  async function alone({ member }: OutboxMember, act: () => Promise<void>): Promise<void> {
    while (busy.has(member)) await busy.get(member)
    const job = act().finally(() => busy.delete(member))
    busy.set(
      member,
      job.catch(() => {}), // told to who has asked for it
    )
    await job
  }

  async function attempt(root: RootRun, member: OutboxMember, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      const { failures } = memories.get(member.member) ?? { failures: 0 }
      remember(member.member, { failures: failures + 1 })
      trouble('A trace could not be stored; it will be tried again', { ...root, error })
      // If this fails too, its claim runs out by itself.
      await release(member, Math.min(CLAIM_MS * 2 ** failures, MAX_BACKOFF_MS)).catch(() => {})
    }
  }

  return {
    async append(root, runId, texts) {
      const open = { ...memberOf(root, root.catalog), delayMs: CLAIM_MS }
      await kv.append({ list: spansKey(runId), values: texts, ttlMs: LIST_TTL_MS, open }, call())
    },

    async sweep() {
      const outbox = outboxKey(namespace, catalog)
      const due = await kv.due(outbox, MEMBERS_A_SWEEP, call())
      const members = due.map((member) => ({ member: { outbox, member }, root: parseOutboxMember(member) }))
      const openRuns = await engine.openRuns([...new Set(members.flatMap(({ root }) => root?.workflowId ?? []))]).catch((error) => {
        trouble("Which runs are open can't be told; each is asked for by itself", { error })
        return new Map<string, string>()
      })
      // Each is claimed when its turn comes: by then those before it may have taken longer than a claim holds.
      await inTurn(members, AT_ONCE, async ({ member, root }) => {
        if (root === null) return void (await kv.settle(member, [], call()))
        await alone(member, async () => {
          if (!(await kv.claim(member, CLAIM_MS, call()))) return
          await attempt(root, member, () => lookAfter(root, member, openRuns.get(root.workflowId) ?? null))
        })
      })
    },

    async storeNow(root, endedRunId) {
      const member = memberOf(root, root.catalog)
      let isOver = true
      await alone(member, async () => {
        const taken = await kv.take(member, CLAIM_MS, call())
        isOver = taken !== 'held'
        if (taken !== 'taken') return
        await attempt(root, member, async () => {
          const newest = await newestLink(root)
          isOver = newest === null || !newest.isOpen || newest.runId !== endedRunId
          if (newest !== null && isOver) await store(root, member, newest, newest.isOpen)
        })
      })
      return isOver
    },
  }
}

/** Holds since when the engine does not know the root. */
function missingList({ rootRunId }: RootRun): ReadList {
  return { key: `traces:missing:${rootRunId}`, length: Number.MAX_SAFE_INTEGER }
}
