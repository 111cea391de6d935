import { Redis } from 'ioredis'
import { describe, expect } from 'vitest'
import type { RunningRedis } from '../../dev/servers/redis.ts'
import { createKvStore, type KvStore } from '../../src/shared/stores/kv/kv-store.ts'
import type { StoreCall } from '../../src/shared/stores/store-call.ts'
import { test } from '../support/fixtures.ts'
import type { UpstashServer } from '../support/upstash.ts'

export function storeCall(timeoutMs = 30_000, signal: AbortSignal = new AbortController().signal): StoreCall {
  return { signal, deadlineAt: Date.now() + timeoutMs }
}

const DAY_MS = 24 * 3_600_000

/** What the trace protocol requires of a key-value store. `locate` selects the server that the store connects to. */
export function describeKvStore(
  name: string,
  locate: (servers: { redis: RunningRedis; upstash: UpstashServer }) => { url: string; token: string | null },
): void {
  describe.concurrent(`key-value store over ${name}`, () => {
    let kv: KvStore
    let redisClient: Redis

    test.beforeAll(({ redis, upstash, cleanup }) => {
      kv = createKvStore(locate({ redis, upstash }))
      redisClient = new Redis(redis.url)
      cleanup.defer(() => redisClient.disconnect())
      cleanup.defer(() => kv.close())
    })

    const command = (name: string, ...args: string[]) => redisClient.call(name, ...args)
    const unique = () => crypto.randomUUID()
    const append = (key: string, values: string[]) => kv.append(key, values, DAY_MS, storeCall())
    const read = (key: string, maxBytes = 100_000) => kv.readList(key, maxBytes, storeCall())

    test('readList: returns any values in the order of their addition', async () => {
      const key = unique()
      const values = ['{"a":1}', 'ünï\u0001"\\ \u{1F680}', '', '9007199254740993', 'null']

      await append(key, values.slice(0, 2))
      await append(key, values.slice(2))

      expect(await read(key)).toEqual({ values, complete: true })
    })

    test('readList: a missing list is empty', async () => {
      expect(await read(unique())).toEqual({ values: [], complete: true })
    })

    test('readList: a long list is read completely, or up to the byte limit', async () => {
      const key = unique()
      const values = Array.from({ length: 1234 }, (_, index) => `ü${index}`.padStart(10, '0'))
      await append(key, values)

      expect(await read(key, 13_574)).toEqual({ values, complete: true })
      expect(await read(key, 13_573)).toEqual({ values: values.slice(0, 1233), complete: false })
      expect(await read(key, 0)).toEqual({ values: [], complete: false })
    })

    test('readList: large elements are read too', async () => {
      const key = unique()
      const values = [100, 700, 300, 300].map((kilobytes) => 'x'.repeat(kilobytes * 1000))
      for (const value of values) await append(key, [value])

      expect((await read(key, 1_400_000)).values.map(({ length }) => length)).toEqual(
        values.map(({ length }) => length),
      )
    })

    test('append: every addition renews the list’s time to live', async () => {
      const key = unique()
      await append(key, ['a'])
      await command('PEXPIRE', key, String(DAY_MS / 2))
      const [earlier, later] = [unique(), unique()]

      await command('SET', earlier, '', 'PX', String(DAY_MS))
      await append(key, ['b'])
      await command('SET', later, '', 'PX', String(DAY_MS))

      // The key that expires last is read first, so that the time between the reads does not change their order.
      const leftMs: number[] = []
      for (const name of [later, key, earlier]) leftMs.push(Number(await command('PTTL', name)))
      expect(leftMs).toEqual(leftMs.toSorted((one, other) => other - one))
    })

    test('trim: removes the values that were read and keeps later ones', async () => {
      const key = unique()
      await append(key, ['a', 'b'])
      const { values } = await read(key)
      await append(key, ['c'])

      await kv.trim(key, values, storeCall())

      expect((await read(key)).values).toEqual(['c'])
    })

    test('trim: a repeated trim removes no later values', async () => {
      const key = unique()
      await append(key, ['a', 'b'])
      const { values } = await read(key)
      await kv.trim(key, values, storeCall())
      await append(key, ['c', 'd', 'e'])

      await kv.trim(key, values, storeCall())

      expect((await read(key)).values).toEqual(['c', 'd', 'e'])
    })

    test('trim: a repeated trim of a part of the list removes nothing that was not read', async () => {
      const key = unique()
      // The first element was appended again after a lost response.
      await append(key, ['a', 'b', 'a', 'c'])
      const { values, complete } = await read(key, 2)
      expect([values, complete]).toEqual([['a', 'b'], false])

      await kv.trim(key, values, storeCall())
      await kv.trim(key, values, storeCall())

      expect((await read(key)).values).toEqual(['a', 'c'])
    })

    test('trim: a list that was read empty is left as it is', async () => {
      const key = unique()
      await append(key, ['a'])

      await kv.trim(key, [], storeCall())

      expect((await read(key)).values).toEqual(['a'])
    })

    test('an error names the kind of error and nothing of the request', async () => {
      const list = unique()
      await command('SET', list, 'no list')

      const rejected = await append(list, ['a-secret-value']).catch((error: unknown) => error)

      expect(String(rejected)).toMatch(/^StoreError: The key-value store (rejected the command|returned 400)/)
      expect(JSON.stringify(rejected, Object.getOwnPropertyNames(rejected))).not.toContain('a-secret-value')
    })

    test('an aborted call rejects with the reason of the caller', async () => {
      const leaving = new AbortController()
      leaving.abort(new Error('left'))

      await expect(kv.readList(unique(), 1000, storeCall(3000, leaving.signal))).rejects.toThrow('left')
    })
  })
}
