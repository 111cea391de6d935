import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPlaceQueue, type Turn } from '../../../../src/service/http/pipeline/places.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A queue whose requests have numbers, and are listed when they get a place or are rejected. */
function numbered(maxSize = 100) {
  const sizes: number[] = []
  const queue = createPlaceQueue<string>({ maxSize, onSizeChange: (by) => void sizes.push((sizes.at(-1) ?? 0) + by) })
  const served: number[] = []
  const rejected: number[] = []
  let joined = 0
  function join(): Turn<string> | null {
    const number = ++joined
    const turn = queue.join()
    void turn?.place.then((place) => void (place === null ? rejected : served).push(number))
    return turn
  }
  const serve = async (count = 1, usedShare = 0.9) => {
    while (count-- > 0) queue.serveNext(() => 'a place', usedShare)
    await vi.advanceTimersByTimeAsync(0)
  }
  return { queue, join, serve, served, rejected, sizes }
}

test('place queue: the first that came is served first', async () => {
  const { join, serve, served } = numbered()
  for (let count = 3; count > 0; count--) join()

  await serve(2)

  expect(served).toEqual([1, 2])
})

test('place queue: once it has not been empty for 50 ms, the last that came is served first', async () => {
  const { join, serve, served } = numbered()
  join()
  await vi.advanceTimersByTimeAsync(51)
  for (let count = 2; count > 0; count--) join()

  await serve(2)

  expect(served).toEqual([3, 2])
})

test('place queue: once it has not been empty for 3 s, a request waits for 50 ms', async () => {
  const { join, rejected } = numbered()
  const after: number[][] = []
  join()
  await vi.advanceTimersByTimeAsync(2000)
  join()
  await vi.advanceTimersByTimeAsync(980)
  join()

  for (const ms of [25, 30, 15, 15]) {
    await vi.advanceTimersByTimeAsync(ms)
    after.push([...rejected])
    if (after.length === 1) join()
  }

  expect(after).toEqual([
    [1, 2],
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3, 4],
  ])
})

/** Serves a tenth of the first 100 requests every 2.9 s. */
async function workOff({ serve }: ReturnType<typeof numbered>, times: number): Promise<void> {
  while (times-- > 0) {
    await vi.advanceTimersByTimeAsync(2900)
    await serve(10, 0)
  }
}

test('place queue: requests wait for longer than 3 s while the queue gets shorter by a tenth every 3 s', async () => {
  const numbers = numbered()
  for (let count = 100; count > 0; count--) numbers.join()

  await workOff(numbers, 4)
  const before = [...numbers.rejected]
  await vi.advanceTimersByTimeAsync(2999)
  const atTheEnd = [...numbers.rejected]
  await vi.advanceTimersByTimeAsync(10)

  expect([before, atTheEnd, numbers.rejected.length]).toEqual([[], [], 60])
})

test('place queue: a request waits for 15 s at most', async () => {
  const numbers = numbered()
  for (let count = 100; count > 0; count--) numbers.join()

  await workOff(numbers, 5)
  await vi.advanceTimersByTimeAsync(499)
  const before = [...numbers.rejected]
  await vi.advanceTimersByTimeAsync(10)

  expect([before, numbers.rejected.length]).toEqual([[], 50])
})

test('place queue: a queue that is as long as before, or that clients have left, does not count as shorter', async () => {
  const numbers = numbered()
  const turns = Array.from({ length: 100 }, numbers.join)

  await vi.advanceTimersByTimeAsync(2000)
  for (const turn of turns.slice(50)) turn?.giveUp()
  await numbers.serve(4, 0)
  for (let count = 4; count > 0; count--) numbers.join()
  await numbers.serve(4, 0)
  await vi.advanceTimersByTimeAsync(1010)

  expect(numbers.rejected.length).toBe(96)
})

test('place queue: those that newer ones have overtaken get half of the places, once no request has had to wait', async () => {
  const { join, serve, served } = numbered()
  const after: number[][] = []
  join()
  await vi.advanceTimersByTimeAsync(51)

  for (const [ms, usedShare] of [
    [0, 0.4],
    [51, 0.5],
    [0, 0.4],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms)
    await serve(1, usedShare)
    after.push([...served])
  }

  expect(after).toEqual([[], [], [1]])
})

test('place queue: one that newer ones have overtaken gets a place at once if none is taken', async () => {
  const { join, serve, served } = numbered()
  join()
  await vi.advanceTimersByTimeAsync(51)

  await serve(1, 0)

  expect(served).toEqual([1])
})

/** More requests arrive than are handled. How many have been rejected after it? */
async function overload({ join, serve, rejected }: ReturnType<typeof numbered>, durationMs: number): Promise<number> {
  for (let ms = 0; ms < durationMs; ms += 20) {
    join()
    join()
    await vi.advanceTimersByTimeAsync(20)
    await serve()
  }
  return rejected.length
}

test('place queue: it is patient again a second after the last rejection', async () => {
  const numbers = numbered(1000)
  const standing = await overload(numbers, 4000)
  await vi.advanceTimersByTimeAsync(100)
  const isEmpty = numbers.queue.size() === 0
  const before = numbers.rejected.length
  await vi.advanceTimersByTimeAsync(1000)
  numbers.join()
  await vi.advanceTimersByTimeAsync(2999)

  expect([standing > 0, isEmpty, numbers.rejected.length - before]).toEqual([true, true, 0])
})

test('place queue: a request that gives up is neither served nor rejected late, and leaves room', async () => {
  const { queue, join, serve, served, rejected, sizes } = numbered(2)
  const first = join()
  join()
  const full = join()

  first?.giveUp()
  first?.giveUp()
  join()
  await serve(2)
  first?.giveUp()

  expect([full, served, rejected, queue.size()]).toEqual([null, [2, 4], [1], 0])
  expect(sizes).toEqual([1, 2, 1, 2, 1, 0])
})

test('place queue: closing rejects all that wait, and all that come later', async () => {
  const { queue, join, rejected } = numbered()
  join()
  join()

  queue.close()
  await vi.advanceTimersByTimeAsync(0)

  expect([rejected, join(), vi.getTimerCount()]).toEqual([[1, 2], null, 0])
})

test('place queue: a request that has its place keeps none of the later ones in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const queue = createPlaceQueue<string>({ maxSize: 10, onSizeChange() {} })
  const first = queue.join()
  const joinNext = () => new WeakRef<object>(queue.join()?.place ?? {})
  joinNext()
  // As under a lasting overload: the queue is never empty.
  const later = Array.from({ length: 100 }, () => {
    queue.serveNext(() => 'a place', 0.9)
    return joinNext()
  })

  vi.useRealTimers()
  await setImmediate()
  collectGarbage()

  // Those in the queue are.
  expect(later.filter((place) => place.deref() !== undefined).length).toBeLessThanOrEqual(2)
  expect(await first?.place).toBe('a place')
  queue.close()
})
