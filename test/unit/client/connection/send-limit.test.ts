import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createSendLimit, type SendLimit } from '../../../../src/client/connection/send-limit.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

const FOREVER = { deadlineAt: Number.POSITIVE_INFINITY, timeoutMs: Number.POSITIVE_INFINITY }

/** How many requests get a place at once, of those that want one. */
async function placesOf(limit: SendLimit, waits = false): Promise<(() => void)[]> {
  const places: (() => void)[] = []
  for (let wanted = 0; wanted < 100; wanted++)
    void limit.enter(FOREVER, waits).then((leave) => leave && places.push(leave))
  await vi.advanceTimersByTimeAsync(0)
  return places
}

test('the send limit: no limit until the service is overloaded, and then less with each overload', async () => {
  const places = [createSendLimit(60_000), createSendLimit(60_000), createSendLimit(60_000)].map(
    async (limit, overloads) => {
      for (let count = 0; count < overloads; count++) {
        limit.overloaded(Date.now())
        // Of the same overload.
        limit.overloaded(Date.now() - 1)
      }
      return (await placesOf(limit)).length
    },
  )

  expect(await Promise.all(places)).toEqual([100, 32, 24])
})

test('the send limit: grows with each response, and after another overload with as many as there are places', async () => {
  const limit = createSendLimit(60_000)
  limit.overloaded(Date.now())
  for (let count = 0; count < 8; count++) limit.completed()
  limit.overloaded(Date.now())
  const places = await placesOf(limit)
  const reduced = places.length
  for (let count = 0; count < 31; count++) limit.completed()
  await vi.advanceTimersByTimeAsync(500)

  expect([reduced, places.length]).toEqual([30, 31])
})

test('the send limit: a place is free again when the request has ended, or when it only waits', async () => {
  const freed: number[][] = []
  for (const waits of [false, true]) {
    const limit = createSendLimit(60_000)
    limit.overloaded(Date.now())
    const places = await placesOf(limit, waits)
    for (const leave of places.slice(0, 10)) leave()
    await vi.advanceTimersByTimeAsync(1500)
    const afterLeaving = places.length
    await vi.advanceTimersByTimeAsync(1500)
    freed.push([afterLeaving, places.length])
  }

  expect(freed).toEqual([
    [42, 42],
    [42, 74],
  ])
})

test('the send limit: a request leaves the queue when its time is over, or when it is aborted', async () => {
  const limit = createSendLimit(60_000)
  limit.overloaded(Date.now())
  await placesOf(limit)
  const controller = new AbortController()

  const late = limit.enter({ deadlineAt: Date.now() + 500, timeoutMs: 500 }, false)
  const aborted = limit.enter({ ...FOREVER, signal: controller.signal }, false)
  controller.abort()
  await vi.advanceTimersByTimeAsync(500)

  expect(await late).toBeNull()
  expect(typeof (await aborted)).toBe('function')
})
