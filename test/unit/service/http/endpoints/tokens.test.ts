import { afterEach, expect, test, vi } from 'vitest'
import { makeApi, rejection, running } from '../api.ts'
import { tokenPolicy } from '../policies.ts'
import { BACKEND, makeTokenApi, type TestRule } from './token-api.ts'

afterEach(() => void vi.useRealTimers())

test('tokens: a token is encrypted, valid for 15 minutes, and never cached (threat 31)', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { create, statusWith } = makeTokenApi()

  const response = await create({ can: ['read'] })
  const { token, expiresAt } = await response.json()

  expect([response.status, response.headers.get('Cache-Control')]).toEqual([201, 'no-store'])
  expect(token).toMatch(/^ptk_[\w-]+$/)
  expect(Date.parse(expiresAt)).toBe(Date.now() + 900_000)
  expect(await statusWith(token)).toBe(200)
})

test.for<[what: string, body: object]>([
  ['no right', { can: [] }],
  ['every right', { can: ['*'] }],
  ['the right to create tokens', { can: ['read', 'delegate'] }],
  ['the right to create links', { can: ['link'] }],
  ['the right to read metrics', { can: ['metrics'] }],
  ['the right to write schedules', { can: ['schedule'] }],
  ['the right to create batches', { can: ['batch'] }],
  ['a handler of a verb that has none', { can: ['read:x'] }],
  ['a wildcard in the middle', { can: ['read'], ids: ['u:*:x'] }],
  ['an empty id', { can: ['read'], ids: [''] }],
  ['no id', { can: ['read'], ids: [] }],
  ['more than 24 hours', { can: ['read'], expiresIn: '24h1ms' }],
  ['more than 24 hours in milliseconds', { can: ['read'], expiresIn: 86_400_001 }],
  ['an unknown field', { can: ['read'], namespaces: ['other'] }],
])('tokens: a request with %s is rejected', async ([, body]) => {
  const { create } = makeTokenApi()

  expect(await rejection(await create(body, 's3cret'))).toEqual([400, 'ValidationError'])
})

test('tokens: only a caller with the right delegate creates one, and a token never does (threat 31)', async () => {
  const { create, tokenOf } = makeTokenApi({ rules: [BACKEND, { name: 'ci', can: ['read'] }] })
  const token = await tokenOf({ can: ['read'] })

  expect(await rejection(await create({ can: ['read'] }, 'ci'))).toEqual([403, 'ForbiddenError'])
  expect(await rejection(await create({ can: ['read'] }, token))).toEqual([403, 'ForbiddenError'])
})

test('tokens: without SERVICE_SIGNING_KEY, and where no credential is required, they are a 501', async () => {
  const withoutKey = makeTokenApi({ keys: null })
  const open = makeApi({ accessTokens: null })

  expect(await rejection(await withoutKey.create({ can: ['read'] }))).toEqual([501, 'NotSupportedError'])
  expect(await rejection(await open.call('POST', '/tokens', { can: ['read'] }))).toEqual([501, 'NotSupportedError'])
})

test('tokens: the caller of a token is bound to its creator and to what it allows (threat 31)', async () => {
  const { calls, statusWith, tokenOf } = makeTokenApi()
  const bodies = [
    { can: ['read', 'signal:approve'] },
    { can: ['signal:approve', 'read'], expiresIn: '1m' },
    { can: ['read'] },
    { can: ['read'], ids: ['u:1'] },
  ]
  for (const body of bodies) await statusWith(await tokenOf(body))
  await statusWith(await tokenOf({ can: ['read'] }, 's3cret'))

  const [first, second, ...others] = calls.map(({ caller }) => caller?.id)

  expect(first).toMatch(/^token:web\/[\da-f]{16}$/)
  expect(second).toBe(first)
  expect(new Set([first, ...others]).size).toBe(4)
  expect(others.at(-1)).toMatch(/^operator\/[\da-f]{16}$/)
})

test('tokens: a token dies with the rule of its creator, and that of an operator does not (threat 31)', async () => {
  const { callers, statusWith, tokenOf } = makeTokenApi()
  const ofRule = await tokenOf({ can: ['read'] })
  const ofOperator = await tokenOf({ can: ['read'] }, 's3cret')
  const before = [await statusWith(ofRule), await statusWith(ofOperator)]

  callers?.setPolicy(tokenPolicy({ ...BACKEND, can: ['delegate'] }))
  const withoutVerb = await statusWith(ofRule)
  callers?.setPolicy(tokenPolicy({ ...BACKEND, name: 'other', token: 'web' } as TestRule))
  const renamed = await statusWith(ofRule)
  callers?.setPolicy(tokenPolicy({ ...BACKEND, token: 'rotated' } as TestRule))
  const withoutCreator = await statusWith(ofRule)
  callers?.setPolicy(tokenPolicy(BACKEND))

  expect(before).toEqual([200, 200])
  expect([withoutVerb, renamed, withoutCreator]).toEqual([401, 401, 401])
  expect([await statusWith(ofRule), await statusWith(ofOperator)]).toEqual([200, 200])
})

test('tokens: no changed character of a token is accepted (threat 31)', async () => {
  const { statusWith, tokenOf } = makeTokenApi()
  const token = await tokenOf({ can: ['read'] })
  const forged = [...token].map(
    (character, at) => token.slice(0, at) + (character === 'A' ? 'B' : 'A') + token.slice(at + 1),
  )

  const statuses = await Promise.all([...forged, token.slice(0, -1), `${token}A`, 'ptk_'].map((it) => statusWith(it)))

  expect(new Set(statuses)).toEqual(new Set([401]))
})

test('tokens: a token is for the namespace of the path that created it (threat 31)', async () => {
  const { statusWith, tokenOf } = makeTokenApi({
    namespaces: { acme: { status: async () => running } },
    rules: [{ ...BACKEND, namespaces: ['default', 'acme'] }],
  })
  const creators = ['web', 's3cret']
  const [own, ofAcme] = [
    await Promise.all(creators.map((creator) => tokenOf({ can: ['read'] }, creator))),
    await Promise.all(creators.map((creator) => tokenOf({ can: ['read'] }, creator, '/namespaces/acme'))),
  ]
  const everywhere = (token: string) =>
    Promise.all(['', '/namespaces/default', '/namespaces/acme'].map((prefix) => statusWith(token, prefix)))

  expect(await Promise.all(own.map(everywhere))).toEqual([
    [200, 200, 404],
    [200, 200, 404],
  ])
  expect(await Promise.all(ofAcme.map(everywhere))).toEqual([
    [403, 404, 200],
    [403, 404, 200],
  ])
})

test('tokens: their requests count towards the limits of their creator (threat 29)', async () => {
  const { statusWith, tokenOf } = makeTokenApi({ rules: [{ ...BACKEND, limits: { perSecond: 0.001, burst: 4 } }] })
  const [first, second] = [await tokenOf({ can: ['read'] }), await tokenOf({ can: ['read'], ids: ['u:1'] })]

  expect([await statusWith(first), await statusWith(second), await statusWith(first), await statusWith('web')]).toEqual(
    [200, 200, 429, 429],
  )
})
