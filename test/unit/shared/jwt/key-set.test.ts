import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createKeySet } from '../../../../src/shared/jwt/key-set.ts'
import { createSigner } from '../../../support/jwt-signer.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

let keys: object

beforeAll(async () => {
  keys = { keys: [(await createSigner('first')).jwk] }
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** A key set, and what the issuer answers. */
function makeKeySet() {
  const issuer = { fetches: 0, outages: 0, respond: async () => Response.json(keys) }
  const keySet = createKeySet({
    url: 'https://login.example.com/jwks',
    fetch: () => {
      issuer.fetches++
      return issuer.respond()
    },
    onOutage: () => void issuer.outages++,
  })
  const find = async (kid = 'first') =>
    keySet.find({ alg: 'ES256', kid }).then(
      () => 'found',
      (error: Error) => error.name,
    )
  return { issuer, keySet, find }
}

function wait(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
}

const fail = () => Promise.reject(new Error('connection refused'))

test('key set: is fetched on first use, once for all who need it, and stays fresh for 10 minutes', async () => {
  const { issuer, keySet, find } = makeKeySet()

  const found = await Promise.all([find(), find()])
  wait(10 * MINUTE_MS - 1)
  await Promise.all([find(), keySet.warm()])
  const whileFresh = issuer.fetches
  wait(1)
  await find()

  expect(found).toEqual(['found', 'found'])
  expect([whileFresh, issuer.fetches]).toEqual([1, 2])
})

test('key set: during an outage the last keys serve for 24 hours, and are fetched again every 10 minutes (threat 11)', async () => {
  const { issuer, keySet, find } = makeKeySet()
  await find()
  const fetchedAt = keySet.fetchedAt()
  issuer.respond = fail

  const found: string[] = []
  for (let minutes = 10; minutes < 24 * 60; minutes += 10) {
    wait(10 * MINUTE_MS)
    found.push(await find(), await find())
  }
  const fetches = issuer.fetches
  wait(10 * MINUTE_MS)

  expect(new Set(found)).toEqual(new Set(['found']))
  expect(fetches).toBe(24 * 6)
  expect(await find()).toBe('KeysUnavailable')
  expect(issuer.outages).toBe(1)
  expect(keySet.fetchedAt()).toBe(fetchedAt)
})

test('key set: after an outage newer keys are used, and the next outage is reported again', async () => {
  const { issuer, keySet, find } = makeKeySet()
  await find()
  const outage = async () => {
    issuer.respond = fail
    wait(HOUR_MS)
    await find()
  }
  await outage()
  issuer.respond = async () => Response.json(keys)
  wait(HOUR_MS)

  expect(await find()).toBe('found')
  expect(keySet.fetchedAt()).toBe(Date.now())
  await outage()
  expect(issuer.outages).toBe(2)
})

test('key set: without any keys an outage is KeysUnavailable, and the next fetch waits for 5 s (threats 9, 11)', async () => {
  const { issuer, keySet, find } = makeKeySet()
  issuer.respond = fail

  const during = [await find(), await find()]
  const fetches = issuer.fetches
  issuer.respond = async () => Response.json(keys)
  wait(5 * SECOND_MS)

  expect(during).toEqual(['KeysUnavailable', 'KeysUnavailable'])
  expect(await find()).toBe('found')
  expect([fetches, issuer.fetches]).toEqual([1, 2])
  expect(keySet.fetchedAt()).toBe(Date.now())
})

test.for<[what: string, respond: () => Response]>([
  ['a redirect', () => new Response(null, { status: 302, headers: { Location: 'https://attacker.example/' } })],
  ['an error', () => new Response('{"keys":[]}', { status: 500 })],
  ['more than 256 KiB', () => Response.json({ keys: [], padding: 'x'.repeat(256 * 1024) })],
  ['JSON that is no key set', () => Response.json({ keys: {} })],
  ['text that is no JSON', () => new Response('<html>')],
])('key set: %s is not accepted as keys (threat 11)', async ([, respond]) => {
  const { issuer, find } = makeKeySet()
  issuer.respond = async () => respond()
  const without = await find()
  issuer.respond = async () => Response.json(keys)
  wait(5 * SECOND_MS)
  await find()
  issuer.respond = async () => respond()
  wait(10 * MINUTE_MS)

  expect([without, await find(), issuer.fetches]).toEqual(['KeysUnavailable', 'found', 3])
})

test('key set: a flood of unknown keys causes one fetch every 30 s (threat 9)', async () => {
  const { issuer, find } = makeKeySet()
  const flood = () => Promise.all(Array.from({ length: 20 }, (_, index) => find(`unknown ${index}`)))
  await find()

  const fetches: number[] = []
  const found: string[] = []
  for (const seconds of [1, 29, 1, 29]) {
    wait(seconds * SECOND_MS)
    found.push(...(await flood()))
    fetches.push(issuer.fetches)
  }

  expect(new Set(found)).toEqual(new Set(['JWKSNoMatchingKey']))
  expect(fetches).toEqual([1, 2, 2, 3])
})

test('key set: an unknown key is not rejected while the keys cannot be fetched', async () => {
  const { issuer, find } = makeKeySet()
  await find()
  issuer.respond = fail
  wait(30 * SECOND_MS)

  const unknown = [await find('unknown'), await find('unknown')]

  expect(unknown).toEqual(['KeysUnavailable', 'KeysUnavailable'])
  expect([await find(), issuer.fetches]).toEqual(['found', 2])
})
