import { Redis as UpstashClient } from '@upstash/redis'
import { describe, expect } from 'vitest'
import { startRedis } from '../../dev/servers/redis.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createKvStore } from '../../src/shared/stores/kv/kv-store.ts'
import { redisConnection } from '../../src/shared/stores/kv/redis.ts'
import { StoreError } from '../../src/shared/stores/store-call.ts'
import { describeKvStore, storeCall } from '../conformance/kv-store.ts'
import { test as fixtureTest } from '../support/fixtures.ts'

describeKvStore('redis://', ({ redis }) => ({ url: redis.url, token: null }))
describeKvStore('Upstash REST', ({ upstash }) => upstash)

/** A store that connects to Redis through a proxy. */
const test = fixtureTest.extend('behindProxy', async ({ redis }, { onCleanup }) => {
  const proxy = await startTcpProxy(`127.0.0.1:${redis.port}`)
  const url = redis.url.replace(`:${redis.port}`, `:${proxy.address.split(':')[1]}`)
  const kv = createKvStore({ url, token: null })
  onCleanup(async () => {})
  return { kv, proxy }
})

describe('key-value store with failures', () => {
  const read = (url: string, token: string | null = null, timeoutMs = 3000) => {
    const kv = createKvStore({ url, token })
    return kv.readList('list', 1000, storeCall(timeoutMs)).finally(() => kv.close())
  }

  test('Upstash REST: Upstash’s own client works with the test server', async ({ upstash }) => {
    const theirs = new UpstashClient({
      url: upstash.url,
      token: upstash.token,
      automaticDeserialization: false,
      enableAutoPipelining: false,
    })

    expect(await theirs.rpush('theirs', '{"ü":1}')).toBe(1)
    expect(await theirs.lrange('theirs', 0, -1)).toEqual(['{"ü":1}'])
    expect(await theirs.eval('return ARGV[1]', [], ['x'])).toBe('x')
    expect(await theirs.pipeline().llen('theirs').lindex('theirs', 0).exec()).toEqual([1, '{"ü":1}'])
  })

  test('Upstash REST: each operation is one request, an addition below the path of the URL', async () => {
    const requested: string[] = []
    const kv = createKvStore({
      url: 'https://kv.example/prefix/',
      token: 'to-ken',
      async fetch(url) {
        requested.push(String(url))
        return Response.json(String(url).endsWith('/pipeline') ? [{ result: 2 }, { result: 1 }] : { result: [] })
      },
    })

    await kv.append('list', ['a', 'b'], 60_000, storeCall())
    await kv.readList('list', 1000, storeCall())
    await kv.trim('list', ['a'], storeCall())

    expect(requested).toEqual(['/pipeline', '', ''].map((path) => `https://kv.example/prefix${path}`))
  })

  test.for([
    ['an error without a known code', [{ result: 1 }, { error: 'a-secret-value' }], 'returned 200'],
    ['an error with a code', [{ error: 'OOM a-secret-value' }, { result: 0 }], 'rejected the command (OOM)'],
    ['another type', 17, 'returned 200'],
  ])('Upstash REST: a response to an addition is rejected without its text: %s', async ([, body, message]) => {
    const kv = createKvStore({ url: 'https://kv.example', token: 'to-ken', fetch: async () => Response.json(body) })

    await expect(kv.append('list', ['a'], 60_000, storeCall())).rejects.toThrow(
      new StoreError(`The key-value store ${message}`),
    )
  })

  test('Upstash REST: the URL’s password may be the token', async ({ upstash }) => {
    expect(await read(upstash.url.replace('//', `//:${upstash.token}@`))).toEqual({ values: [], complete: true })
  })

  test('a wrong token or password is reported without showing it (threat 87) (failure 23)', async ({
    redis,
    upstash,
  }) => {
    await expect(read(upstash.url, 'wrong-to-ken')).rejects.toThrow(/^The key-value store returned 401$/)
    await expect(read(redis.url.replace('pass-word', 'wrong'))).rejects.toThrow(/^The key-value store/)
  })

  test('an unreachable store is reported within the deadline, without its address', async () => {
    const port = await freePort()

    for (const url of [`redis://127.0.0.1:${port}`, `http://127.0.0.1:${port}`]) {
      const rejected = await read(url, 'token', 1000).catch((error: Error) => error)

      expect(String(rejected)).toMatch(/^StoreError: The key-value store (cannot be reached|did not respond in time)/)
      expect(String(rejected)).not.toContain(`${port}`)
    }
  })

  test('trim: a response that is lost makes no later value disappear', async ({ upstash }) => {
    const key = crypto.randomUUID()
    const direct = createKvStore(upstash)
    let trims = 0
    const kv = createKvStore({ ...upstash, fetch: losesFirstTrim })
    async function losesFirstTrim(url: URL | RequestInfo, init?: RequestInit): Promise<Response> {
      const response = await fetch(url, init)
      if (!String(init?.body).includes('TRIM') || trims++ > 0) return response
      await direct.append(key, ['late 1', 'late 2'], 60_000, storeCall())
      throw new TypeError('the connection was cut')
    }
    await direct.append(key, ['a', 'b'], 60_000, storeCall())

    await kv.trim(key, ['a', 'b'], storeCall())

    expect((await direct.readList(key, 1000, storeCall())).values).toEqual(['late 1', 'late 2'])
    expect(trims).toBe(2)
  })

  test('trim: nothing is lost when another archiver trims at the same time', async ({ upstash }) => {
    const key = crypto.randomUUID()
    const other = createKvStore(upstash)
    // Its trim arrives after the other one's, and after another value.
    const kv = createKvStore({
      ...upstash,
      async fetch(url, init) {
        if (String(init?.body).includes('TRIM')) {
          await other.trim(key, ['a', 'b'], storeCall())
          await other.append(key, ['late'], 60_000, storeCall())
        }
        return fetch(url, init)
      },
    })
    await other.append(key, ['a', 'b'], 60_000, storeCall())

    await kv.trim(key, ['a', 'b'], storeCall())

    expect((await other.readList(key, 1000, storeCall())).values).toEqual(['late'])
  })

  test('a redirect is not followed (threat 87)', async () => {
    const asked: string[] = []
    const fetch = async (url: URL | RequestInfo) => {
      asked.push(String(url))
      return new Response(null, { status: 307, headers: { location: 'http://evil.example/' } })
    }
    const kv = createKvStore({ url: 'https://kv.example', token: 'token', fetch })

    await expect(kv.readList('list', 1000, storeCall())).rejects.toThrow('returned 307')
    expect(asked).toEqual(['https://kv.example/'])
  })

  test('a response beyond the limit is not read to its end (threat 88)', async () => {
    let sent = 0
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(0x61))
        },
      })
    const kv = createKvStore({ url: 'https://kv.example', token: 'token', fetch: async () => new Response(endless()) })

    await expect(kv.readList('list', 1000, storeCall())).rejects.toThrow('returned more than')
    expect(sent).toBeLessThan(2 * 1024 * 1024)
  })

  test('a lost connection is opened again, and pending commands are retried', async ({ behindProxy }) => {
    const { kv, proxy } = behindProxy
    await kv.append('lost', ['a'], 60_000, storeCall())

    proxy.interrupt()
    const reading = kv.readList('lost', 1000, storeCall(5000))
    await until('it tries to connect again', () => proxy.rejected() > 0)
    proxy.restore()

    expect((await reading).values).toEqual(['a'])
  })

  test('a silent connection is replaced (failure 19)', async ({ behindProxy }) => {
    const { kv, proxy } = behindProxy
    await kv.append('silent', ['a'], 60_000, storeCall())

    proxy.silence()
    await expect(kv.readList('silent', 1000, storeCall(500))).rejects.toThrow('did not respond in time')

    const read = () => kv.readList('silent', 1000, storeCall(500))
    expect((await until('it is read', read)).values).toEqual(['a'])
    expect(proxy.open()).toBe(1)
  })

  test('a Redis client that failed to load is loaded again by the next command', async ({ redis }) => {
    let loads = 0
    const load = async () => {
      if (++loads === 1) throw new Error('out of memory')
      return import('ioredis')
    }
    const connection = redisConnection({ url: redis.url, load })

    expect(await connection.range('missing', 0, 0, storeCall(), 1000)).toEqual([])
    expect(await connection.range('missing', 0, 0, storeCall(), 1000)).toEqual([])
    expect(loads).toBe(2)
    await connection.close()
  })

  test('a closed store does not connect again', async ({ behindProxy }) => {
    const { kv, proxy } = behindProxy
    const read = () => kv.readList('closed', 1000, storeCall())
    await read()
    await kv.close()

    await expect(read()).rejects.toThrow('is closed')

    await until('the connection is closed', () => proxy.open() === 0)
  })

  test('Redis is used again after a restart (failure 19)', async () => {
    const own = await startRedis()
    const kv = createKvStore({ url: own.url, token: null })
    const append = () => kv.append('l', ['a'], 60_000, storeCall(2000))
    await append()

    await own.kill()
    await expect(append()).rejects.toThrow('The key-value store')
    const back = await own.restart()
    await append()

    expect((await kv.readList('l', 1000, storeCall())).values).toEqual(['a'])
    await kv.close()
    await back.kill()
  })
})
