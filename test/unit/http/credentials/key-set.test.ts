import { expect, test } from 'vitest'
import { createKeySet } from '../../../../src/http/credentials/key-set.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const KEYS = { keys: [] }

/** A key set, its clock, and what the issuer answers. */
function makeKeySet({ sharesPending = true } = {}) {
  const issuer = { now: 1_000_000, fetches: 0, outages: 0, respond: async () => Response.json(KEYS) }
  const keySet = createKeySet({
    url: 'https://login.example.com/jwks',
    now: () => issuer.now,
    sharesPending,
    fetch: () => {
      issuer.fetches++
      return issuer.respond()
    },
    onOutage: () => void issuer.outages++,
  })
  return { issuer, keySet, current: async () => keySet.current() }
}

const fail = () => Promise.reject(new Error('connection refused'))
const unavailable = { error: 'AuthUnavailableError', details: { retryAfterSeconds: 5 } }

test('key set: is fetched on first use, once for all who need it, and stays fresh for 10 minutes', async () => {
  const { issuer, keySet, current } = makeKeySet()

  const [first] = await Promise.all([current(), current()])
  issuer.now += 10 * MINUTE_MS - 1
  const sameStill = keySet.current()
  issuer.now += 1
  const next = await current()

  expect(sameStill).toBe(first)
  expect(next).not.toBe(first)
  expect(issuer.fetches).toBe(2)
})

test('key set: during an outage the last keys serve for 24 hours, and are fetched again every 30 s (threat 11)', async () => {
  const { issuer, current } = makeKeySet()
  const first = await current()
  issuer.respond = fail

  issuer.now += HOUR_MS
  const during = [await current(), await current()]
  issuer.now += 30_000
  during.push(await current())
  const fetches = issuer.fetches
  issuer.now += 23 * HOUR_MS
  const after = current()

  expect(during).toEqual([first, first, first])
  expect(fetches).toBe(3)
  await expect(after).rejects.toMatchObject(unavailable)
  expect(issuer.outages).toBe(1)
})

test('key set: without any keys an outage is an AuthUnavailableError, and the next fetch waits for 5 s (threat 11)', async () => {
  const { issuer, current } = makeKeySet()
  issuer.respond = fail

  await expect(current()).rejects.toMatchObject(unavailable)
  await expect(current()).rejects.toMatchObject(unavailable)
  const fetches = issuer.fetches
  issuer.respond = async () => Response.json(KEYS)
  issuer.now += 5000

  expect(await current()).toMatchObject({ fetchedAt: issuer.now })
  expect([fetches, issuer.fetches]).toEqual([1, 2])
})

test.for<[what: string, respond: () => Response]>([
  ['a redirect', () => new Response(null, { status: 302, headers: { Location: 'https://attacker.example/' } })],
  ['an error', () => new Response('{"keys":[]}', { status: 500 })],
  ['more than 256 KiB', () => Response.json({ keys: [], padding: 'x'.repeat(256 * 1024) })],
  ['JSON that is no key set', () => Response.json({ keys: {} })],
  ['text that is no JSON', () => new Response('<html>')],
])('key set: %s is not accepted as keys (threat 11)', async ([, respond]) => {
  const { issuer, current } = makeKeySet()
  issuer.respond = async () => respond()

  await expect(current()).rejects.toMatchObject(unavailable)
})

test('key set: a flood of unknown keys causes one fetch every 30 s (threat 9)', async () => {
  const { issuer, keySet, current } = makeKeySet()
  const first = await current()
  issuer.now += 1000

  const [second, alsoSecond] = await Promise.all([keySet.newerThan(first), keySet.newerThan(first)])
  const flood = second === null ? [] : [await keySet.newerThan(second), await keySet.newerThan(second)]
  const fetches = issuer.fetches
  issuer.now += 30_000
  const third = second && (await keySet.newerThan(second))

  expect(second).toMatchObject({ fetchedAt: 1_001_000 })
  expect(alsoSecond).toBe(second)
  expect(flood).toEqual([null, null])
  expect(fetches).toBe(2)
  expect(third).toMatchObject({ fetchedAt: 1_031_000 })
})

test('key set: who has old keys gets those that another request has fetched since, without a fetch (threat 10)', async () => {
  const { issuer, keySet, current } = makeKeySet()
  const first = await current()
  issuer.now += 1000
  const second = await keySet.newerThan(first)

  expect(await keySet.newerThan(first)).toBe(second)
  expect(issuer.fetches).toBe(2)
})

test('key set: an unknown key is not rejected while the keys cannot be fetched', async () => {
  const { issuer, keySet, current } = makeKeySet()
  const first = await current()
  issuer.now += 1000
  issuer.respond = fail

  await expect(keySet.newerThan(first)).rejects.toMatchObject(unavailable)
  await expect(keySet.newerThan(first)).rejects.toMatchObject(unavailable)
  expect(issuer.fetches).toBe(2)
})

test('key set: without shared promises no request awaits the fetch of another one', async () => {
  const { issuer, current } = makeKeySet({ sharesPending: false })
  const responses: ((response: Response) => void)[] = []
  issuer.respond = () => new Promise((resolve) => void responses.push(resolve))

  const [first, second] = [current(), current()]
  responses[1]?.(Response.json(KEYS))
  const keys = await second
  const later = await current()
  responses[0]?.(Response.json(KEYS))
  await first

  expect(later).toBe(keys)
  expect(issuer.fetches).toBe(2)
})
