import type { Call } from '../../domain/model/call.ts'
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

/** Thousands exist at the same time, so each holds only the callbacks that it needs. */
export interface Waiter {
  resolve(closing: Closing | null): void
  reject(error: unknown): void
  /** Releases its timer and its listener. */
  stop(): void
  note: Call['note']
}

/**
 * Adds a wait, which resolves to null when `call` is over before the run ends. `onLeave` is called when it has left
 * early.
 */
export function join(
  watch: Watch,
  { signal, deadlineAt, note }: Call,
  onLeave: (watch: Watch) => void,
): Promise<Closing | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Closing | null>()
  const stop = whenOver(deadlineAt, signal, () => {
    watch.waiters.delete(waiter)
    resolve(null)
    onLeave(watch)
  })
  const waiter: Waiter = { resolve, reject, stop, note }
  watch.waiters.add(waiter)
  return promise
}

/** Resolves all waits with `closing`. */
export function endAll({ waiters }: Watch, closing: Closing): void {
  for (const { stop, resolve } of waiters) {
    stop()
    resolve(closing)
  }
  waiters.clear()
}

/** Rejects all waits. */
export function failAll({ waiters }: Watch, error: unknown): void {
  for (const { stop, reject } of waiters) {
    stop()
    reject(error)
  }
  waiters.clear()
}

/** Adds fields to the log lines of all requests that wait for the run. */
export function noteAll({ waiters }: Watch, fields: Parameters<Call['note']>[0]): void {
  for (const { note } of waiters) note(fields)
}
