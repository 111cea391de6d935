import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createRetryQueue } from '../../../src/worker/retry-queue.ts'

test('retry queue: a few at a time, also when all that waits is tried once more at the end', async () => {
  let acting = 0
  let most = 0
  const done: number[] = []
  const queue = createRetryQueue({
    async act(item: number) {
      most = Math.max(most, ++acting)
      await nextTurn()
      acting--
      done.push(item)
    },
    failed: 'failed',
    trouble: () => {},
  })
  for (let item = 0; item < 100; item++) queue.add(item)

  await queue.stop()

  expect(done).toHaveLength(100)
  expect(most).toBeLessThanOrEqual(16)
  expect(queue.left()).toBe(0)
})

test('retry queue: what still fails at the end is left, and not tried again', async () => {
  let tries = 0
  const act = async () => {
    tries++
    throw new Error('down')
  }
  const queue = createRetryQueue({ act, failed: 'failed', trouble: () => {} })
  for (let item = 0; item < 20; item++) queue.add(item)

  await queue.stop()
  const before = tries
  queue.add(20)
  await nextTurn()

  expect(queue.left()).toBe(21)
  expect(tries).toBe(before)
})

test('retry queue: the end waits for what is under way', async () => {
  const under = Promise.withResolvers<void>()
  const queue = createRetryQueue({ act: () => under.promise, failed: 'failed', trouble: () => {} })
  queue.add(1)

  const stopped = queue.stop().then(() => queue.left())
  await nextTurn()
  under.resolve()

  expect(await stopped).toBe(0)
})
