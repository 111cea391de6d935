import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { shutdownOnSignal } from '../../../src/runtime/shutdown.ts'

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

describe('shutdownOnSignal', () => {
  test('shutdownOnSignal: closes, and ends the process once that is done', async () => {
    const { steps, signal, closed } = makeShutdown()

    signal()
    await vi.advanceTimersByTimeAsync(1000)
    expect(steps).toEqual(['close'])
    closed()
    await vi.advanceTimersByTimeAsync(0)

    expect(steps).toEqual(['close', 'exit 0'])
  })

  test('shutdownOnSignal: ends the waits one second before the time is over', async () => {
    const { steps, signal } = makeShutdown()

    signal()
    await vi.advanceTimersByTimeAsync(28_999)
    expect(steps).toEqual(['close'])
    await vi.advanceTimersByTimeAsync(1)

    expect(steps).toEqual(['close', 'drain'])
  })

  test('shutdownOnSignal: gives up when the time is over', async () => {
    const { steps, signal } = makeShutdown()

    signal()
    await vi.advanceTimersByTimeAsync(30_000)

    expect(steps).toEqual(['close', 'drain', 'exit 1'])
  })

  test('shutdownOnSignal: with less than a second it ends the waits at once', async () => {
    const { steps, signal } = makeShutdown({ timeoutMs: 300 })

    signal()
    await vi.advanceTimersByTimeAsync(0)

    expect(steps).toEqual(['close', 'drain'])
  })

  test('shutdownOnSignal: a second signal ends at once, an echo of the first does not', async () => {
    const { steps, signal } = makeShutdown()

    signal()
    await vi.advanceTimersByTimeAsync(500)
    signal()
    expect(steps).toEqual(['close'])
    await vi.advanceTimersByTimeAsync(1)
    signal()

    expect(steps).toEqual(['close', 'exit 1'])
  })
})
