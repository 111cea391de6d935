import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { shutdownOnSignal } from '../../../../src/service/runtime/shutdown.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function makeShutdown({ timeoutMs = 30_000 } = {}) {
  const steps: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const signal = shutdownOnSignal({
    timeoutMs,
    close: () => {
      steps.push('close')
      return promise
    },
    drain: () => void steps.push('drain'),
    exit: (code) => void steps.push(`exit ${code}`),
  })
  return { steps, signal, closed: resolve }
}

test('shutdownOnSignal: the process exits with 1 after the timeout', async () => {
  const { steps, signal } = makeShutdown()

  signal()
  await vi.advanceTimersByTimeAsync(30_000)

  expect(steps).toEqual(['close', 'drain', 'exit 1'])
})

test('shutdownOnSignal: drained requests have their time even if the process did not run before', async () => {
  vi.useRealTimers()
  const { steps, signal, closed } = makeShutdown({ timeoutMs: 1100 })

  signal()
  // All timers that are due fire when the process runs again.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200)
  await new Promise((resolve) => setTimeout(resolve))

  expect(steps).toEqual(['close', 'drain'])
  closed()
  await expect.poll(() => steps).toEqual(['close', 'drain', 'exit 0'])
})

test('shutdownOnSignal: with a timeout below one second, waiting requests are drained at once', async () => {
  const { steps, signal } = makeShutdown({ timeoutMs: 300 })

  signal()
  await vi.advanceTimersByTimeAsync(0)

  expect(steps).toEqual(['close', 'drain'])
})
