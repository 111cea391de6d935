import { describe, expect, test } from 'vitest'
import { remember } from '../../../src/lib/read-through-cache.ts'

describe('remember', () => {
  test('remember: those who ask at once share one reading', async () => {
    const { read, reads } = counted()
    const reader = remember({ read, ttlMs: 1000, maxKeys: 10 })

    const values = await Promise.all([reader('a'), reader('a'), reader('b')])

    expect(values.map(({ value }) => value)).toEqual(['a1', 'a1', 'b2'])
    expect(reads()).toBe(2)
  })

  test('remember: where requests can’t wait for each other, each reads for itself until one has read', async () => {
    const { read, reads } = counted()
    const reader = remember({ read, ttlMs: 1000, maxKeys: 10, sharesPending: false })

    const first = await Promise.all([reader('a'), reader('a')])
    const second = await reader('a')

    expect(first.map(({ value }) => value)).toEqual(['a1', 'a2'])
    expect(second.value).toBe('a2')
    expect(reads()).toBe(2)
  })

  test.for([true, false])(
    'remember: a reading that failed is not kept (pending ones shared: %s)',
    async (sharesPending) => {
      let fails = true
      const read = async () => {
        if (fails) throw new Error('not now')
        return 'well'
      }
      const reader = remember({ read, ttlMs: 1000, maxKeys: 10, sharesPending })

      await expect(reader('a')).rejects.toThrow('not now')
      fails = false

      expect((await reader('a')).value).toBe('well')
    },
  )

  test.for([true, false])(
    'remember: the time of a reading is that of its beginning (pending ones shared: %s)',
    async (sharesPending) => {
      let now = 100
      const read = async () => {
        now = 150
        return 'value'
      }
      const reader = remember({ read, ttlMs: 60, maxKeys: 10, now: () => now, sharesPending })

      expect(await reader('a')).toEqual({ value: 'value', readAt: 100 })
      expect((await reader('a', 100)).readAt).toBe(100)
      expect((await reader('a', 101)).readAt).toBe(150)
      now = 220
      expect((await reader('a')).readAt).toBe(220)
    },
  )

  test('remember: those who want a newer reading than the one in flight wait for it and share the next', async () => {
    const reads: PromiseWithResolvers<string>[] = []
    let now = 100
    const read = () => {
      const reading = Promise.withResolvers<string>()
      reads.push(reading)
      return reading.promise
    }
    const reader = remember({ read, ttlMs: 1000, maxKeys: 10, now: () => now })

    const first = reader('a')
    now = 101
    const late = [reader('a', 101), reader('a', 101), reader('a', 101)]
    now = 102
    reads[0]?.resolve('old')
    await first
    reads[1]?.resolve('new')

    expect(await Promise.all(late)).toEqual(late.map(() => ({ value: 'new', readAt: 102 })))
    expect(reads).toHaveLength(2)
  })

  test('remember: a reading in flight that fails does not fail those who want a newer one', async () => {
    const reads: PromiseWithResolvers<string>[] = []
    let now = 100
    const read = () => {
      const reading = Promise.withResolvers<string>()
      reads.push(reading)
      return reading.promise
    }
    const reader = remember({ read, ttlMs: 1000, maxKeys: 10, now: () => now })

    const first = reader('a')
    now = 101
    const late = reader('a', 101)
    reads[0]?.reject(new Error('not now'))
    await expect(first).rejects.toThrow('not now')
    reads[1]?.resolve('well')

    expect(await late).toEqual({ value: 'well', readAt: 101 })
  })
})

function counted() {
  let count = 0
  return { read: async (key: string) => `${key}${++count}`, reads: () => count }
}
