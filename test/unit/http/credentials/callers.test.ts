import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { createCallers, type Policy } from '../../../../src/http/credentials/callers.ts'
import { AUDIENCE, createSigner, ISSUER, type Signer } from '../../../support/jwt-signer.ts'

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

const POLICY: Policy = {
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

function makeCallers({
  policy = POLICY,
  operatorTokens = ['s3cret'],
}: {
  policy?: Policy | null
  operatorTokens?: string[]
} = {}) {
  const clock = { now: Date.now() }
  const callers = createCallers({
    operatorTokens,
    policy,
    now: () => clock.now,
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
  return { callers, clock, idOf }
}

const formsOf = (token: string) => [`Basic ${token}`, `bearer ${token}`, `Basic ${btoa(`anybody:${token}`)}`]

test('callers: each credential is accepted in three forms (threat 2)', async () => {
  const { idOf } = makeCallers()
  const tokens = ['s3cret', 'ptc_new', 'ptc_old', await signer.sign()]

  const ids = await Promise.all(tokens.map((token) => Promise.all(formsOf(token).map(idOf))))

  const expected = ['operator', 'token:ci', 'token:ci', 'jwt:main:ada']
  expect(ids).toEqual(expected.map((id) => [id, id, id]))
})

test('callers: without a credential, and with one that is not valid, the error says only that (threat 1)', async () => {
  const { idOf } = makeCallers()
  const invalid = ['Basic', 'ptc_new', 'Digest ptc_new', 'Bearer ptc_ne', 'Bearer a.b.c', 'Bearer ptc_new, ptc_old']

  expect([await idOf(), await idOf(''), await idOf(' ')]).toEqual(['missing', 'missing', 'missing'])
  expect(await Promise.all(invalid.map(idOf))).toEqual(invalid.map(() => 'not valid'))
})

test('callers: the hash of a token, as it stands in the policy, is no credential (threat 3)', async () => {
  const { idOf } = makeCallers()
  const hash = hashOf('ptc_new')

  const presented = [hash, hash.toUpperCase(), `sha256:${hash}`].flatMap(formsOf)

  expect(await Promise.all(presented.map(idOf))).toEqual(presented.map(() => 'not valid'))
})

test('callers: an operator is found without a promise, always; the others once they have been verified', async () => {
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

test('callers: a credential that was rejected is not remembered, nor is a missing one known', async () => {
  const { callers, idOf } = makeCallers()

  await idOf('Bearer wrong')

  expect([callers.knows('Bearer wrong'), callers.knows(undefined), callers.knows('')]).toEqual([false, false, false])
})

test('callers: only the whole JWT is remembered, not its signature or its claims', async () => {
  const { idOf } = makeCallers()
  const [header, claims, signature] = (await signer.sign()).split('.')
  await idOf(`Bearer ${header}.${claims}.${signature}`)
  const [, others] = (await signer.sign({ sub: 'eve' })).split('.')

  const forged = [`${header}.${others}.${signature}`, `${header}.${claims}.${signature?.slice(2)}`]

  expect(await Promise.all(forged.map((jwt) => idOf(`Bearer ${jwt}`)))).toEqual(['not valid', 'not valid'])
})

test('callers: a JWT is remembered for at most a minute, and never after it has expired', async () => {
  const { callers, clock } = makeCallers()
  const expiring = `Bearer ${await signer.sign({ exp: Math.floor(clock.now / 1000) + 20 })}`
  const long = `Bearer ${await signer.sign()}`
  await Promise.all([expiring, long].map((authorization) => callers.identify(authorization)))

  const known = [1, 21, 60].map((after) => {
    const start = clock.now
    clock.now += after * 1000
    const both = [callers.knows(expiring), callers.knows(long)]
    clock.now = start
    return both
  })

  expect(known).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ])
})

test('callers: the error of an expired JWT differs from that of one that is not valid', async () => {
  const { idOf, clock } = makeCallers()
  const jwt = `Bearer ${await signer.sign()}`
  const before = await idOf(jwt)

  clock.now += 3_631_000

  expect([before, await idOf(jwt)]).toEqual(['jwt:main:ada', 'expired'])
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
  expect(caller).toMatchObject({ id: 'jwt:main:ada', grants: [] })
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

test('callers: at most 10 000 credentials are remembered, the last ones', async () => {
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

test('callers: without issuers no JWT is valid', async () => {
  const { idOf } = makeCallers({ policy: { ...POLICY, issuers: {} } })

  expect(await idOf(`Bearer ${await signer.sign()}`)).toBe('not valid')
})
