import { describe, expect } from 'vitest'
import type { RunningS3 } from '../../dev/servers/s3.ts'
import { createObjectStore } from '../../src/shared/stores/s3/object-store.ts'
import { objectUrl } from '../../src/shared/stores/s3/object-url.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { test } from '../support/fixtures.ts'
import { type S3Proxy, startS3Proxy } from '../support/s3-proxy.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('put: writes only if the object does not exist, or over the version that was read', async ({ seaweed: s3 }) => {
  const objects = createObjectStore(s3)
  const object = { bucket: s3.bucket, key: 'conditional' }
  const put = (text: string, etag: string | null) =>
    objects.put(object, { bytes: bytes(text), contentType: 'text/plain', etag }, storeCall())
  expect(await put('first', null)).toBe(true)
  const first = await objects.get(object, 1000, storeCall())

  expect(await put('second', null)).toBe(false)
  expect(await put('second', first?.etag ?? '')).toBe(true)
  expect(await put('third', first?.etag ?? '')).toBe(false)

  expect((await objects.get(object, 1000, storeCall()))?.text).toBe('second')
})

describe.for([
  ['SeaweedFS', 'seaweed'],
  ['rclone', 's3'],
] as const)('object storage: %s', ([, server]) => {
  let s3: RunningS3
  let proxy: S3Proxy

  test.beforeAll(async ({ seaweed, s3: rclone, cleanup }) => {
    s3 = { seaweed, s3: rclone }[server]
    proxy = await startS3Proxy(s3.endpoint)
    cleanup.defer(() => proxy.close())
  })

  const store = (overrides: Partial<RunningS3> = {}) => createObjectStore({ ...s3, ...overrides })
  const get = (
    key: string,
    {
      maxBytes = 1000,
      timeoutMs = 3000,
      ...overrides
    }: Partial<RunningS3> & { maxBytes?: number; timeoutMs?: number } = {},
  ) =>
    store(overrides)
      .get({ bucket: overrides.bucket ?? s3.bucket, key }, maxBytes, storeCall(timeoutMs))
      .then((stored) => stored?.text ?? null)
  const put = async (key: string, text: string, overrides: Partial<RunningS3> = {}, etag?: string | null) => {
    const object = { bucket: s3.bucket, key }
    const current = etag === undefined ? ((await store().get(object, 1 << 20, storeCall()))?.etag ?? null) : etag
    const body = { bytes: bytes(text), contentType: 'application/json', etag: current }
    return store(overrides).put(object, body, storeCall())
  }

  test('returns what was put, under any key', async () => {
    const keys = ['traces/run.json', 'a b+c%2F..%25/ünï(1)*.json', '..%2Fz', "q'!~&=@:$,;", '%', '\u{1F680}', ' ']
    for (const key of keys) await put(key, `body of ${key}`)

    for (const key of keys) expect(await get(key)).toBe(`body of ${key}`)
  })

  test('a later put replaces an earlier one', async () => {
    await put('twice', 'the first and longer one')
    await put('twice', 'the second')

    expect(await get('twice')).toBe('the second')
  })

  test('exists: returns whether the object exists', async () => {
    await put('exists', 'yes')

    expect(await store().exists({ bucket: s3.bucket, key: 'exists' }, storeCall())).toBe(true)
    expect(await store().exists({ bucket: s3.bucket, key: 'missing' }, storeCall())).toBe(false)
  })

  test('checkBucket: reports a missing bucket and wrong credentials', async () => {
    await store().checkBucket(s3.bucket, storeCall())

    await expect(store().checkBucket('no-such-bucket', storeCall())).rejects.toThrow('404 NoSuchBucket')
    await expect(store({ secretAccessKey: 'wrong' }).checkBucket(s3.bucket, storeCall())).rejects.toThrow('403')
  })

  test('a missing object is null, a missing bucket an error', async () => {
    expect(await get('not-there')).toBeNull()
    await expect(get('not-there', { bucket: 'no-such-bucket' })).rejects.toThrow(
      'The object storage returned 404 NoSuchBucket',
    )
  })

  test('an object is read up to its limit (threat 88)', async () => {
    await put('large', 'x'.repeat(300_000))

    expect(await get('large', { maxBytes: 300_000 })).toHaveLength(300_000)
    await expect(get('large', { maxBytes: 299_999 })).rejects.toThrow(
      'The object storage returned more than 299999 bytes',
    )
  })

  test('wrong credentials have their own message, and are not shown (threat 87)', async () => {
    const rejected = await get('twice', { secretAccessKey: 'the-wrong-secret' }).catch((error: Error) => error)

    expect(String(rejected)).toContain('returned 403 SignatureDoesNotMatch: check the SERVICE_STORAGE_ credentials')
    expect(String(rejected)).not.toMatch(/wrong-secret|127\.0\.0\.1/)
  })

  test('a transient error is retried', async () => {
    await put('passing', 'there')
    for (const fault of [{ status: 500, code: 'InternalError' }, { status: 503, code: 'SlowDown' }, { cutAt: 2 }]) {
      proxy.fail({ ...fault, times: 2 })

      expect(await get('passing', { endpoint: proxy.endpoint })).toBe('there')
      expect(proxy.requests).toHaveLength(3)
    }
    proxy.fail({ status: 503, code: 'SlowDown', times: 2 })
    await put('passing', 'still there', { endpoint: proxy.endpoint })
    expect(await get('passing')).toBe('still there')
  })

  test('a persistent error is reported by its name after a few attempts', async () => {
    await put('failing', 'there')
    const faults = [
      { fault: { status: 403, code: 'AccessDenied' }, said: '403 AccessDenied', tries: 1 },
      {
        fault: { status: 403, code: 'RequestTimeTooSkewed' },
        said: '403 RequestTimeTooSkewed: the clock of this machine is wrong',
        tries: 1,
      },
      { fault: { status: 500, code: 'InternalError' }, said: '500 InternalError', tries: 5 },
      { fault: { status: 503, code: 'SlowDown' }, said: '503 SlowDown', tries: 5 },
      { fault: { status: 502 }, said: '502', tries: 5 },
      { fault: { cutAt: 2 }, said: 'cannot be reached|returned an incomplete response', tries: 5 },
    ]
    for (const { fault, said, tries } of faults) {
      proxy.fail(fault)

      await expect(get('failing', { endpoint: proxy.endpoint, timeoutMs: 10_000 })).rejects.toThrow(new RegExp(said))
      expect(proxy.requests).toHaveLength(tries)
    }
  })

  test('a Retry-After beyond the deadline ends the retries', async () => {
    proxy.fail({ status: 503, code: 'SlowDown', headers: { 'retry-after': '10' } })

    await expect(get('failing', { endpoint: proxy.endpoint })).rejects.toThrow('503 SlowDown')
    expect(proxy.requests).toHaveLength(1)
  })

  test('a hanging server is given up at the deadline, and at once if the caller leaves (threat 88)', async () => {
    proxy.fail({ hangs: true })
    const leaving = new AbortController()

    await expect(get('failing', { endpoint: proxy.endpoint, timeoutMs: 300 })).rejects.toThrow(
      'The object storage did not respond in time',
    )
    const reading = store({ endpoint: proxy.endpoint }).get(
      { bucket: s3.bucket, key: 'failing' },
      1000,
      storeCall(10_000, leaving.signal),
    )
    leaving.abort(new Error('left'))
    await expect(reading).rejects.toThrow('left')
  })

  test('a redirect is an error and is not followed (threat 87)', async () => {
    proxy.fail({ status: 307, headers: { location: `${s3.endpoint}/${s3.bucket}/failing` } })

    await expect(get('failing', { endpoint: proxy.endpoint })).rejects.toThrow(
      'returned 307: redirects are not followed',
    )
    expect(proxy.requests).toHaveLength(1)
  })
})

test('objectUrl: on AWS the bucket is part of the host unless it has dots, elsewhere part of the path', () => {
  const aws = { endpoint: null, region: 'eu-central-1' }

  expect(objectUrl(aws, { bucket: 'traces', key: 'a/b c' })).toBe(
    'https://traces.s3.eu-central-1.amazonaws.com/a/b%20c',
  )
  expect(objectUrl(aws, { bucket: 'my.traces', key: 'a' })).toBe('https://s3.eu-central-1.amazonaws.com/my.traces/a')
  expect(objectUrl({ ...aws, region: 'cn-north-1' }, { bucket: 'traces', key: 'a' })).toBe(
    'https://traces.s3.cn-north-1.amazonaws.com.cn/a',
  )
  expect(objectUrl({ ...aws, endpoint: 'http://127.0.0.1:9000/s3/' }, { bucket: 'traces', key: 'a%2Fb' })).toBe(
    'http://127.0.0.1:9000/s3/traces/a%252Fb',
  )
})

test('objectUrl: no key leaves its bucket (threat 85)', () => {
  for (const key of ['', '..', 'a/../b', './a', '%2e%2E/b', 'x'.repeat(1025), '\ud800'])
    expect(() => objectUrl({ endpoint: null, region: 'eu-central-1' }, { bucket: 'traces', key })).toThrow(
      'The key of an object',
    )
})
