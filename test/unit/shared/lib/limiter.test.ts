import { expect, test } from 'vitest'
import { createLimiter } from '../../../../src/shared/lib/limiter.ts'

/** Acts that end by hand, and the numbers of those that have begun. */
function acts() {
  const begun: number[] = []
  const ends = new Map<number, PromiseWithResolvers<number>>()
  const act = (number: number) => async () => {
    begun.push(number)
    const end = Promise.withResolvers<number>()
    ends.set(number, end)
    return end.promise
  }
  return { begun, ends, act }
}

test('limiter: runs at most so many acts at a time, the others in order', async () => {
  const { begun, ends, act } = acts()
  const limit = createLimiter(2)
  const all = [1, 2, 3, 4].map((number) => limit(act(number)))
  expect(begun).toEqual([1, 2])

  ends.get(2)?.resolve(2)
  await all[1]
  expect(begun).toEqual([1, 2, 3])
  for (const number of [1, 3]) ends.get(number)?.resolve(number)
  await all[0]
  ends.get(4)?.resolve(4)

  expect(await Promise.all(all)).toEqual([1, 2, 3, 4])
})

test('limiter: an act that fails gives its turn to the next', async () => {
  const limit = createLimiter(1)
  const failing = limit(() => Promise.reject(new Error('no')))
  const next = limit(async () => 'next')

  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('next')
  expect(await limit(async () => 'later')).toBe('later')
})
