import { inTurn } from './in-turn.ts'
import type { Trouble } from './trouble.ts'

export interface RetryQueueOptions<T> {
  /** Tried again, some seconds later, until it goes well. */
  act(item: T): Promise<void>
  /** What is said when it does not. */
  failed: string
  trouble: Trouble
}

/** Small things to be done soon, a few at a time. Beyond the bound the oldest are dropped. */
export interface RetryQueue<T> {
  add(item: T): void
  /** How many are not done. */
  left(): number
  /** Waits for what is under way, and tries once more what waits. */
  stop(): Promise<void>
}

const AT_ONCE = 8
const MAX_WAITING = 10_000
const REST_MS = 2000

export function createRetryQueue<T>({ act, failed, trouble }: RetryQueueOptions<T>): RetryQueue<T> {
  let waiting: T[] = []
  const working = new Set<Promise<void>>()
  let resting: NodeJS.Timeout | null = null
  let isStopped = false

  function work(): void {
    while (working.size < AT_ONCE && resting === null && !isStopped) {
      const item = waiting.shift()
      if (item === undefined) return
      const attempted = attempt(item).finally(() => {
        working.delete(attempted)
        work()
      })
      working.add(attempted)
    }
  }

  async function attempt(item: T): Promise<void> {
    try {
      await act(item)
    } catch (error) {
      trouble(failed, { error })
      waiting.push(item)
      resting ??= setTimeout(() => {
        resting = null
        work()
      }, REST_MS).unref()
    }
  }

  return {
    add(item) {
      waiting.push(item)
      if (waiting.length > MAX_WAITING) {
        waiting.shift()
        trouble(`${failed}; too many wait, and the oldest was dropped`)
      }
      work()
    },
    left: () => waiting.length + working.size,
    async stop() {
      isStopped = true
      await Promise.all(working)
      const left = waiting
      waiting = []
      await inTurn(left, AT_ONCE, attempt)
      if (resting !== null) clearTimeout(resting)
    },
  }
}
