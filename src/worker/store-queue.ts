import type { Root } from './root-runs.ts'
import type { Trouble } from './trouble.ts'

export interface StoreQueueOptions {
  /** False when it was too early. */
  store(root: Root, endedRunId: string): Promise<boolean>
  trouble: Trouble
}

/** Runs that have ended under this worker's eyes, each stored a moment later. What does not fit is the sweep's. */
export interface StoreQueue {
  add(root: Root, endedRunId: string): void
  /** How many are not stored. */
  left(): number
  /** Stores what waits, at once. */
  stop(): Promise<void>
}

interface Waiting {
  root: Root
  endedRunId: string
  readyAt: number
  tries: number
}

// By then its last spans are sent, and the engine knows that it has ended.
const STORE_AFTER_MS = 1000
const MAX_TRIES = 10
const MAX_WAITING = 10_000
const AT_ONCE = 4

export function createStoreQueue({ store, trouble }: StoreQueueOptions): StoreQueue {
  /** By root: of two ends of one chain the last is enough. */
  const waiting = new Map<string, Waiting>()
  const working = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | null = null

  function wait(item: Waiting): void {
    const key = `${item.root.rootRunId} ${item.root.workflowId}`
    waiting.delete(key)
    if (waiting.size < MAX_WAITING) waiting.set(key, item)
    else trouble('More runs end than can be stored at once; the sweep stores them')
    wake()
  }

  function wake(): void {
    const [next] = waiting.values()
    if (timer !== null || next === undefined || working.size >= AT_ONCE) return
    timer = setTimeout(
      () => {
        timer = null
        work(Date.now())
      },
      Math.max(0, next.readyAt - Date.now()),
    ).unref()
  }

  function work(until: number): void {
    for (const [key, item] of waiting) {
      if (item.readyAt > until || working.size >= AT_ONCE) break
      waiting.delete(key)
      const job = storeOne(item).finally(() => {
        working.delete(job)
        wake()
      })
      working.add(job)
    }
    wake()
  }

  async function storeOne({ root, endedRunId, tries }: Waiting): Promise<void> {
    try {
      const isStored = await store(root, endedRunId)
      if (!isStored && tries < MAX_TRIES) wait({ root, endedRunId, readyAt: Date.now() + STORE_AFTER_MS, tries: tries + 1 })
    } catch (error) {
      trouble('A trace could not be stored at once; the sweep will', { ...root, error })
    }
  }

  return {
    add: (root, endedRunId) => wait({ root, endedRunId, readyAt: Date.now() + STORE_AFTER_MS, tries: 1 }),
    left: () => waiting.size + working.size,
    async stop() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      while (waiting.size > 0 || working.size > 0) {
        work(Number.POSITIVE_INFINITY)
        await Promise.all(working)
      }
    },
  }
}
