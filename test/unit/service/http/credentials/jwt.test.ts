import { createSecretKey } from 'node:crypto'
import { type JWK, SignJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createJwtVerifier } from '../../../../../src/service/http/credentials/jwt.ts'
import { AUDIENCE, claimsOf, createSigner, ISSUER, type Signer, unsigned } from '../../../../support/jwt-signer.ts'

const ISSUERS = {
  main: { issuer: ISSUER, audience: [AUDIENCE, 'other'], jwksUrl: 'https://login.example.com/jwks' },
}

let signer: Signer

beforeAll(async () => {
  signer = await createSigner()
})

const NOW_MS = Date.now()

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }))
afterEach(() => void vi.useRealTimers())

/** A verifier, and the issuer's keys. */
function makeVerifier(keys: JWK[] = [signer.jwk]) {
  const issuer = { fetched: [] as string[], keys }
  const verifier = createJwtVerifier({
    fetch: async (url) => {
      issuer.fetched.push(String(url))
      return Response.json({ keys: issuer.keys })
    },
    onKeysUnavailable() {},
  })
  /** The subject, or the word that says why not. */
  const subjectOf = async (jwt: string) => {
    try {
      return (await verifier.verify(jwt, ISSUERS)).claims.sub
    } catch (error) {
      return error instanceof Error ? error.message.replace(/^The credential .* is /, '') : error
    }
  }
  return { issuer, verifier, subjectOf }
}

const WITHOUT_KID = { kid: undefined }

const seconds = (fromNow: number) => Math.floor(NOW_MS / 1000) + fromNow

test.for(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('JWT: a signature with %s is verified', async (algorithm) => {
  const other = await createSigner('other', algorithm)
  const { verifier } = makeVerifier([signer.jwk, other.jwk])

  const verified = await verifier.verify(await other.sign({ exp: 4_000_000_000, org: 'acme' }), ISSUERS)

  expect(verified).toMatchObject({ issuer: 'main', claims: { sub: 'ada', org: 'acme' }, expiresAt: 4_000_000_000_000 })
})

test.for([
  ['Ed25519', 'EdDSA'],
  ['EdDSA', 'Ed25519'],
  ['Ed25519', undefined],
])('JWT: a signature with %s is verified with a key for %s', async ([alg, ofKey]) => {
  const other = await createSigner('other', 'EdDSA')
  const { subjectOf } = makeVerifier([signer.jwk, { ...other.jwk, alg: ofKey } as JWK])

  expect(await subjectOf(await other.sign({}, { alg }))).toBe('ada')
})

test('JWT: the audience is in the claim that the policy names', async () => {
  const { verifier } = makeVerifier()
  const accepts = async (claims: object, audienceClaim = 'client_id') => {
    const jwt = await signer.sign({ aud: undefined, ...claims })
    const issuers = { main: { ...ISSUERS.main, audienceClaim } }
    return verifier.verify(jwt, issuers).then(
      () => true,
      () => false,
    )
  }

  expect(await accepts({ client_id: AUDIENCE })).toBe(true)
  expect(await accepts({ client_id: ['none', AUDIENCE] })).toBe(true)
  expect(await accepts({ app: { id: AUDIENCE } }, '/app/id')).toBe(true)
  expect(await accepts({ client_id: 'none', aud: AUDIENCE })).toBe(false)
  expect(await accepts({})).toBe(false)
})

test('JWT: no other algorithm is accepted, nor a public key as a shared secret (threat 6)', async () => {
  const rs512 = await createSigner('other', 'RS512')
  const { subjectOf, issuer } = makeVerifier([signer.jwk, rs512.jwk])
  const secrets = [JSON.stringify(signer.jwk), String(signer.jwk.x)].map((secret) =>
    createSecretKey(Buffer.from(secret)),
  )
  const withSecret = await Promise.all(
    secrets.map((secret) => new SignJWT(claimsOf()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret)),
  )
  const [, claims = '', signature = ''] = (await signer.sign()).split('.')
  const none = unsigned({ alg: 'none', kid: 'first' }, claimsOf())

  const forged = [
    none,
    `${none}${signature}`,
    `${unsigned({ alg: 'NONE' }, {}).split('.')[0]}.${claims}.${signature}`,
    ...withSecret,
    await rs512.sign(),
  ]

  expect(await Promise.all(forged.map(subjectOf))).toEqual(forged.map(() => 'not valid'))
  expect(issuer.fetched).toEqual([])
})

test("JWT: a key that the token brings or names is not used: only the issuer's (threat 7)", async () => {
  const attacker = await createSigner('attacker')
  const { issuer, subjectOf } = makeVerifier()
  const url = 'https://attacker.example/jwks'
  const { kid: _, ...jwk } = attacker.jwk

  const forged = await Promise.all([
    attacker.sign(),
    attacker.sign({}, { kid: 'first' }),
    attacker.sign({}, { kid: 'first', jwk }),
    attacker.sign({}, { kid: 'first', jku: url }),
    attacker.sign({}, { kid: 'first', x5u: url }),
    attacker.sign({}, { kid: '../../attacker' }),
    attacker.sign({}, { kid: url }),
  ])

  expect(await Promise.all(forged.map(subjectOf))).toEqual(forged.map(() => 'not valid'))
  expect(new Set(issuer.fetched)).toEqual(new Set([ISSUERS.main.jwksUrl]))
})

test('JWT: a critical extension that is not known is rejected (threat 7)', async () => {
  const { subjectOf } = makeVerifier()

  const jwt = await new SignJWT(claimsOf())
    .setProtectedHeader({ alg: 'ES256', kid: 'first', crit: ['exp'], exp: 1 })
    .sign(signer.key, { crit: { exp: true } })

  expect(await subjectOf(jwt)).toBe('not valid')
})

test.for<[what: string, claims: Record<string, unknown>, expected: string]>([
  ['the audience is one of several', { aud: ['x', 'other'] }, 'ada'],
  ['the audience is another one', { aud: 'porticos' }, 'not valid'],
  ['the audience is missing', { aud: undefined }, 'not valid'],
  ['the issuer has no slash at its end', { iss: ISSUER.slice(0, -1) }, 'not valid'],
  ['the issuer is missing', { iss: undefined }, 'not valid'],
  ['the issuer is an array', { iss: [ISSUER] }, 'not valid'],
  ['exp is missing', { exp: undefined }, 'not valid'],
  ['exp is text', { exp: String(seconds(60)) }, 'not valid'],
  ['exp is over, within the tolerance of 30 s', { exp: seconds(-20) }, 'ada'],
  ['exp is over', { exp: seconds(-31) }, 'expired'],
  ['nbf is ahead, within the tolerance of 30 s', { nbf: seconds(20) }, 'ada'],
  ['nbf is ahead', { nbf: seconds(60) }, 'not valid'],
  ['sub is missing', { sub: undefined }, 'not valid'],
  ['sub is empty', { sub: '' }, 'not valid'],
  ['sub is a number', { sub: 17 }, 'not valid'],
  ['sub has a lone surrogate', { sub: '\ud800' }, 'not valid'],
  ['sub has 255 bytes', { sub: '€'.repeat(85) }, '€'.repeat(85)],
  ['sub has more than 255 bytes', { sub: '€'.repeat(86) }, 'not valid'],
])('JWT: %s (threat 8)', async ([, claims, expected]) => {
  const { subjectOf } = makeVerifier()

  expect(await subjectOf(await signer.sign(claims))).toBe(expected)
})

test('JWT: expired is only said of one that was valid (threat 8)', async () => {
  const { subjectOf } = makeVerifier()
  const expired = await signer.sign({ exp: seconds(-3600) })
  const [header, claims, signature = ''] = expired.split('.')

  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`

  expect(await subjectOf(`${header}.${claims}.${flipped}`)).toBe('not valid')
})

test('JWT: one of more than 8 KiB is rejected (threat 38)', async () => {
  const { issuer, subjectOf } = makeVerifier()

  expect(await subjectOf(await signer.sign({ padding: 'x'.repeat(8 * 1024) }))).toBe('not valid')
  expect(issuer.fetched).toEqual([])
})

test('JWT: a new key of the issuer is fetched when a token names it, and an old one stops to be valid (threat 10)', async () => {
  const next = await createSigner('second')
  const { issuer, subjectOf } = makeVerifier()
  const before = await subjectOf(await signer.sign())
  issuer.keys = [next.jwk]
  vi.setSystemTime(NOW_MS + 30_000)

  const after = [await subjectOf(await next.sign()), await subjectOf(await signer.sign())]

  expect([before, ...after]).toEqual(['ada', 'ada', 'not valid'])
  expect(issuer.fetched).toHaveLength(2)
})

test('JWT: one whose kid no key has is verified with each key that has none, and with no other (threat 7)', async () => {
  const [other, another, attacker] = [await createSigner('other'), await createSigner('another'), await createSigner()]
  const keyOf = ({ jwk: { kid: _, ...jwk } }: Signer) => jwk
  const { subjectOf } = makeVerifier([signer.jwk, keyOf(other), keyOf(another)])
  const { subjectOf: withOne } = makeVerifier([keyOf(other)])

  const valid = [other.sign(), another.sign(), another.sign({ exp: seconds(-3600) }), signer.sign()]
  const invalid = [
    signer.sign({}, { kid: 'unknown' }),
    attacker.sign({}, { kid: 'unknown' }),
    other.sign({}, { kid: 'first' }),
  ]

  const outcomes = async (jwts: Promise<string>[]) => Promise.all(jwts.map(async (jwt) => subjectOf(await jwt)))
  expect(await outcomes(valid)).toEqual(['ada', 'ada', 'expired', 'ada'])
  expect(await outcomes(invalid)).toEqual(invalid.map(() => 'not valid'))
  expect([await withOne(await other.sign()), await withOne(await attacker.sign())]).toEqual(['ada', 'not valid'])
})

test('JWT: one without kid is verified if only one key comes into question', async () => {
  const second = await createSigner('second')

  expect(await makeVerifier().subjectOf(await signer.sign({}, WITHOUT_KID))).toBe('ada')
  const { subjectOf } = makeVerifier([signer.jwk, second.jwk])
  expect(await subjectOf(await signer.sign({}, WITHOUT_KID))).toBe('not valid')
})

test('keys: warm fetches those of all issuers, and their age is known by the name of the issuer', async () => {
  const { verifier } = makeVerifier()
  const before = verifier.keyAges(ISSUERS)

  await verifier.warm(ISSUERS)
  vi.setSystemTime(NOW_MS + 90_000)

  expect(before).toEqual([])
  expect(verifier.keyAges(ISSUERS)).toEqual([['main', 90]])
})

test('JWT: an issuer that names a typ rejects every other one', async () => {
  const { verifier } = makeVerifier()
  const issuers = { main: { ...ISSUERS.main, typ: 'at+jwt' } }
  const outcome = async (typ?: string) =>
    verifier.verify(await signer.sign({}, typ === undefined ? {} : { typ }), issuers).then(
      ({ claims }) => claims.sub,
      ({ message }) => message,
    )

  expect(await Promise.all(['at+jwt', 'application/at+jwt'].map(outcome))).toEqual(['ada', 'ada'])
  expect(await Promise.all(['logout+jwt', 'JWT', undefined].map(outcome))).toEqual(
    Array(3).fill('The credential of the request is not valid'),
  )
})
