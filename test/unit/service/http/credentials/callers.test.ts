import { createHash } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createCallers, type TokenPolicy } from '../../../../../src/service/http/credentials/callers.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { AUDIENCE, createSigner, ISSUER, type Signer } from '../../../../support/jwt-signer.ts'

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

const POLICY: TokenPolicy = {
  issuers: { main: { issuer: ISSUER, audience: [AUDIENCE], jwksUrl: 'https://login.example.com/jwks' } },
  rules: [
    { name: 'ci', who: { token: [hashOf('ptc_new'), hashOf('ptc_old')] }, can: ['start'] },
    { name: 'users', who: { jwt: 'main', claims: {} }, can: ['read'], ids: ['u:{sub}:*'] },
  ],
}

let signer: Signer

beforeAll(async () => {
  signer = await createSigner()
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

function makeCallers({
  policy = POLICY,
  operatorTokens = ['s3cret'],
}: {
  policy?: TokenPolicy | null
  operatorTokens?: string[]
} = {}) {
  const callers = createCallers({
    operatorTokens,
    policy,
    fetch: async () => Response.json({ keys: [signer.jwk] }),
    onKeysUnavailable() {},
  })
  const idOf = async (authorization?: string) => {
    try {
      return (await callers.identify(authorization)).id
    } catch (error) {
      return error instanceof Error ? error.message.replace(/^The credential .* is /, '') : error
    }
  }
  return { callers, idOf }
}

test('callers: the error of a rejected credential has the reason for the log, and no part of the credential', async () => {
  const { callers } = makeCallers()
  const other = await createSigner('other')
  const reasonOf = async (authorization?: string) => {
    const error = await Promise.resolve()
      .then(() => callers.identify(authorization))
      .catch((thrown: unknown) => thrown)
    return error instanceof ServiceError ? error.reason : error
  }
  const ofJwt = async (claims: Record<string, unknown>) => reasonOf(`Bearer ${await signer.sign(claims)}`)

  expect([await reasonOf(), await reasonOf('Bearer made-up'), await reasonOf('Bearer pta_AAAA')]).toEqual([
    'header missing',
    'unknown token',
    'unknown token',
  ])
  expect([
    await ofJwt({ iss: 'https://other.example' }),
    await ofJwt({ aud: 'another' }),
    await ofJwt({ aud: undefined }),
    await ofJwt({ exp: 1 }),
    await ofJwt({ sub: '' }),
    await reasonOf(`Bearer ${await other.sign()}`),
    await reasonOf(`Bearer ${(await signer.sign()).replace(/\.[^.]*$/, `.${(await other.sign()).split('.')[2]}`)}`),
    await reasonOf('Bearer a.b.c'),
  ]).toEqual(['unknown issuer', 'aud', 'aud', 'expired', 'sub', 'no matching key', 'signature', 'not a JWT'])
})

test('callers: without a credential, and with one that is not valid, the error says only that (threat 1)', async () => {
  const { idOf } = makeCallers()
  const invalid = ['Basic', 'ptc_new', 'Digest ptc_new', 'Bearer ptc_ne', 'Bearer a.b.c', 'Bearer ptc_new, ptc_old']

  expect([await idOf(), await idOf(''), await idOf(' ')]).toEqual(['missing', 'missing', 'missing'])
  expect(await Promise.all(invalid.map(idOf))).toEqual(invalid.map(() => 'not valid'))
})

test('callers: an operator is found without a promise, always; the others once they have been verified (threat 37)', async () => {
  const { callers } = makeCallers()
  const jwt = await signer.sign()
  const credentials = ['s3cret', 'ptc_new', jwt].map((token) => `Bearer ${token}`)

  const first = credentials.map((authorization) => callers.identify(authorization))
  const knownBefore = credentials.map((authorization) => callers.knows(authorization))
  const verified = await Promise.all(first)

  expect(first.map((caller) => caller instanceof Promise)).toEqual([false, true, true])
  expect(knownBefore).toEqual([true, false, false])
  expect(credentials.map((authorization) => callers.identify(authorization))).toEqual(verified)
  expect(credentials.map((authorization) => callers.knows(authorization))).toEqual([true, true, true])
})

test('callers: a credential that was rejected is not remembered, nor is a missing one known (threat 38)', async () => {
  const { callers, idOf } = makeCallers()

  await idOf('Bearer wrong')

  expect([callers.knows('Bearer wrong'), callers.knows(undefined), callers.knows('')]).toEqual([false, false, false])
})

test('callers: only the whole JWT is remembered, not its signature or its claims (threat 38)', async () => {
  const { idOf } = makeCallers()
  const [header, claims, signature] = (await signer.sign()).split('.')
  await idOf(`Bearer ${header}.${claims}.${signature}`)
  const [, others] = (await signer.sign({ sub: 'eve' })).split('.')

  const forged = [`${header}.${others}.${signature}`, `${header}.${claims}.${signature?.slice(2)}`]

  expect(await Promise.all(forged.map((jwt) => idOf(`Bearer ${jwt}`)))).toEqual(['not valid', 'not valid'])
})

test('callers: a JWT is remembered for at most a minute, and never after it has expired (threat 38)', async () => {
  const { callers } = makeCallers()
  const expiring = `Bearer ${await signer.sign({ exp: Math.floor(Date.now() / 1000) + 20 })}`
  const long = `Bearer ${await signer.sign()}`
  await Promise.all([expiring, long].map((authorization) => callers.identify(authorization)))

  const known = [1, 21, 60].map((after) => {
    const start = Date.now()
    vi.setSystemTime(start + after * 1000)
    const both = [callers.knows(expiring), callers.knows(long)]
    vi.setSystemTime(start)
    return both
  })

  expect(known).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ])
})

test('callers: a new policy applies to credentials that were valid before (threat 4)', async () => {
  const { callers, idOf } = makeCallers()
  const jwt = `Bearer ${await signer.sign()}`
  const before = [await idOf('Bearer ptc_old'), await idOf(jwt)]

  callers.setPolicy({ ...POLICY, rules: [{ name: 'ci', who: { token: [hashOf('ptc_new')] }, can: ['start'] }] })
  const after = [await idOf('Bearer ptc_old'), await idOf('Bearer ptc_new')]
  const caller = await callers.identify(jwt)

  expect(before).toEqual(['token:ci', 'jwt:main:ada'])
  expect(after).toEqual(['not valid', 'token:ci'])
  expect(caller).toMatchObject({ kind: 'granted' as const, id: 'jwt:main:ada', grants: [] })
})

test('callers: a verification that began with the old policy is not remembered with the new one (threat 4)', async () => {
  const { callers } = makeCallers()

  const beginning = callers.identify('Bearer ptc_old')
  callers.setPolicy({ ...POLICY, rules: [] })
  await beginning

  expect(callers.knows('Bearer ptc_old')).toBe(false)
})

test('callers: the shared token counts beside a policy, and only it without one (threat 5)', async () => {
  const without = makeCallers({ policy: null })
  const withoutShared = makeCallers({ operatorTokens: [] })

  expect([await without.idOf('Bearer s3cret'), await without.idOf('Bearer ptc_new')]).toEqual(['operator', 'not valid'])
  expect([await withoutShared.idOf('Bearer s3cret'), await withoutShared.idOf('Bearer ')]).toEqual([
    'not valid',
    'not valid',
  ])
})

test('callers: at most 10 000 credentials are remembered, the last ones (threat 38)', async () => {
  const token = (index: number) => `ptc_${index}`
  const hashes = Array.from({ length: 10_001 }, (_, index) => hashOf(token(index)))
  const { callers } = makeCallers({
    policy: { issuers: {}, rules: [{ name: 'ci', who: { token: hashes }, can: ['*'] }] },
  })

  for (let index = 0; index < hashes.length; index++) await callers.identify(`Bearer ${token(index)}`)
  const remembered = hashes.filter((_, index) => callers.knows(`Bearer ${token(index)}`))

  expect(remembered.length).toBeLessThanOrEqual(10_000)
  expect(remembered.length).toBeGreaterThan(9000)
  expect([callers.knows(`Bearer ${token(0)}`), callers.knows(`Bearer ${token(10_000)}`)]).toEqual([false, true])
})

test('callers: without issuers no JWT is valid (threat 8)', async () => {
  const { idOf } = makeCallers({ policy: { ...POLICY, issuers: {} } })

  expect(await idOf(`Bearer ${await signer.sign()}`)).toBe('not valid')
})
