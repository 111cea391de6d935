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
  /** Tries once more what waits. */
  stop(): Promise<void>
}

const AT_ONCE = 8
const MAX_WAITING = 10_000
const REST_MS = 2000

export function createRetryQueue<T>({ act, failed, trouble }: RetryQueueOptions<T>): RetryQueue<T> {
  let waiting: T[] = []
  let working = 0
  let resting: NodeJS.Timeout | null = null
  let isStopped = false

  function work(): void {
    while (working < AT_ONCE && resting === null && !isStopped) {
      const item = waiting.shift()
      if (item === undefined) return
      working++
      void attempt(item).finally(() => {
        working--
        work()
      })
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
    left: () => waiting.length + working,
    async stop() {
      isStopped = true
      const left = waiting
      waiting = []
      await inTurn(left, AT_ONCE, attempt)
      if (resting !== null) clearTimeout(resting)
    },
  }
}
