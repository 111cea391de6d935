import type { Call } from '../../domain/call.ts'
import { whenOver } from '../../lib/abort.ts'
import type { Closing } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'

/** One run, and all waits for its end. */
export interface Watch {
  run: RunRef
  waiters: Set<Waiter>
  /** Epoch milliseconds of the last read of the run itself; before the first one, of its first wait. */
  checkedAt: number
}

export interface Waiter {
  end(closing: Closing): void
  fail(error: unknown): void
  note: Call['note']
}

/** Adds a wait, which gives null when `call` is over before the run ends. `onLeave` is called after it has left early. */
export function join(watch: Watch, { signal, deadlineAt, note }: Call, onLeave: () => void): Promise<Closing | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Closing | null>()
  const stop = whenOver(deadlineAt, signal, () => {
    watch.waiters.delete(waiter)
    resolve(null)
    onLeave()
  })
  const waiter: Waiter = {
    end(closing) {
      stop()
      resolve(closing)
    },
    fail(error) {
      stop()
      reject(error)
    },
    note,
  }
  watch.waiters.add(waiter)
  return promise
}

/** Adds fields to the log lines of all requests that wait for the run. */
export function noteAll({ waiters }: Watch, fields: Parameters<Call['note']>[0]): void {
  for (const { note } of waiters) note(fields)
}
