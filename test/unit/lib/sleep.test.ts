import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pause } from '../../../src/lib/sleep.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('pause: lasts as long as it is told', async () => {
  const ended = vi.fn()
  void pause(1000, new AbortController().signal).then(ended)

  await vi.advanceTimersByTimeAsync(999)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toHaveBeenCalled()
})

test('pause: ends when the signal aborts, and leaves no timer', async () => {
  const controller = new AbortController()
  const pausing = pause(1000, controller.signal)

  controller.abort()

  await pausing
  expect(vi.getTimerCount()).toBe(0)
})

test('pause: does not begin when the signal has aborted', async () => {
  await pause(1000, AbortSignal.abort())

  expect(vi.getTimerCount()).toBe(0)
})

test('pause: leaves no listener on the signal', async () => {
  const { signal } = new AbortController()
  const pauses = Array.from({ length: 20 }, () => pause(1000, signal))

  await vi.runAllTimersAsync()
  await Promise.all(pauses)

  expect(getEventListeners(signal, 'abort')).toEqual([])
})
