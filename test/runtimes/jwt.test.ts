/** Credentials on each runtime, whose `fetch` and `crypto` differ, with the keys of an issuer on a real server. */
import { createHash, createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { beforeAll, describe, expect, type TestContext } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { FROM_SOURCE, type ServeEntry, workerdOf } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { AUDIENCE, claimsOf, createSigner, ISSUER, type Signer, unsigned } from '../support/jwt-signer.ts'

const RUNTIMES: Record<string, ServeEntry> = {
  ...FROM_SOURCE,
  workerd: async (env) => workerdOf(join(await ensureBundles(), 'workerd.js'))(env),
}

const OPERATOR = 'operator-s3cret'
const TOKEN = 'ptc_of-a-rule'
const HASH = createHash('sha256').update(TOKEN).digest('hex')

let signer: Signer

beforeAll(async () => {
  signer = await createSigner()
})

/** A service with a policy, and its issuer. */
async function serve(
  runtime: string,
  { engine: { address }, onTestFinished }: Pick<TestContext, 'onTestFinished'> & { engine: { address: string } },
) {
  const issuer = await startIdentityProvider([signer.jwk])
  onTestFinished(issuer.stop)
  const policy = {
    version: 1,
    issuers: { main: { issuer: ISSUER, audience: AUDIENCE, jwksUrl: issuer.jwksUrl } },
    rules: [
      { name: 'ci', who: { token: `sha256:${HASH}` }, can: ['start'] },
      { name: 'users', who: { jwt: 'main' }, can: ['read'] },
      { name: 'slow', who: { jwt: 'main', claims: { plan: 'slow' } }, can: ['read'], limits: { perSecond: 0.01 } },
    ],
  }
  const start = RUNTIMES[runtime]
  const service = await start?.({
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    SERVICE_CATALOG_ID: 'any',
    SERVICE_PORT: '0',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_API_AUTH_TOKEN: OPERATOR,
    SERVICE_POLICY: JSON.stringify(policy),
    ENGINE_ADDRESS: address,
  })
  if (service === undefined) throw new Error(`No runtime ${runtime}`)
  onTestFinished(service.stop)
  const { call } = makeApi({ url: service.url })
  const get = (path: string, authorization?: string) =>
    call('GET', path, undefined, authorization === undefined ? {} : { Authorization: authorization })
  /** 404 with a valid credential: the path has no route. */
  const statusOf = async (authorization?: string) => (await get('/nope', authorization)).status
  const statusesOf = (jwts: readonly string[]) => Promise.all(jwts.map((jwt) => statusOf(`Bearer ${jwt}`)))
  return { issuer, service, get, statusOf, statusesOf }
}

describe.concurrent.for(Object.keys(RUNTIMES))('credentials on %s', (runtime) => {
  test('each credential is accepted in three forms, and no other (threats 1, 2, 3, 5)', async ({
    engine,
    onTestFinished,
  }) => {
    const { statusOf } = await serve(runtime, { engine, onTestFinished })
    const forms = (token: string) => [`Basic ${token}`, `bearer ${token}`, `Basic ${btoa(`anybody:${token}`)}`]
    const valid = [OPERATOR, TOKEN, await signer.sign()].flatMap(forms)
    const invalid = [HASH, `sha256:${HASH}`, 'wrong', 'a.b.c'].flatMap(forms)

    const statuses = await Promise.all([...valid, ...invalid, undefined].map(statusOf))

    expect(statuses).toEqual([...valid.map(() => 404), ...invalid.map(() => 401), 401])
  })

  test("a JWT counts only with the issuer's signature and claims (threats 6, 7, 8)", async ({
    engine,
    onTestFinished,
  }) => {
    const { issuer, statusesOf, get } = await serve(runtime, { engine, onTestFinished })
    const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']
    const signers = await Promise.all(algorithms.map((algorithm) => createSigner(algorithm, algorithm)))
    issuer.keys = [signer.jwk, ...signers.map(({ jwk }) => jwk)]
    const attacker = await createSigner('attacker')
    const secret = createSecretKey(Buffer.from(JSON.stringify(signer.jwk)))
    const past = Math.floor(Date.now() / 1000) - 60
    const valid = await Promise.all([...signers.map((one) => one.sign()), signer.sign({ aud: ['x', AUDIENCE] })])
    const forged = await Promise.all([
      unsigned({ alg: 'none', kid: 'first' }, claimsOf()),
      new SignJWT(claimsOf()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret),
      attacker.sign({}, { kid: 'first' }),
      attacker.sign({}, { kid: 'first', jwk: attacker.jwk }),
      attacker.sign({}, { kid: 'first', jku: issuer.jwksUrl.replace('/jwks', '/attacker') }),
      signer.sign({ aud: 'other' }),
      signer.sign({ aud: undefined }),
      signer.sign({ iss: 'https://attacker.example/' }),
      signer.sign({ sub: undefined }),
      signer.sign({ exp: undefined }),
      signer.sign({ nbf: past + 3600 }),
      signer.sign({ exp: past }),
    ])

    expect(await statusesOf(valid)).toEqual(valid.map(() => 404))
    expect(await statusesOf(forged)).toEqual(forged.map(() => 401))
    const messages = await Promise.all(
      [forged[0], forged.at(-1)].map(async (jwt) => (await get('/nope', `Bearer ${jwt}`)).body.message),
    )
    expect(messages).toEqual(['not valid', 'expired'].map((word) => expect.stringMatching(new RegExp(`is ${word}$`))))
    expect(issuer.requests.filter((path) => path !== '/jwks')).toEqual([])
  })

  test('a new key is fetched when a JWT names it, and a flood of unknown keys is not (threats 9, 10)', async ({
    engine,
    onTestFinished,
  }) => {
    const { issuer, statusesOf } = await serve(runtime, { engine, onTestFinished })
    const next = await createSigner('second')
    const jwt = await next.sign()
    const before = await statusesOf([await signer.sign()])
    issuer.keys = [next.jwk]

    // On workerd a request cannot wait for the fetch of another one, and gets a 503 meanwhile.
    const rotated = await until('the new key is known', async () => (await statusesOf([jwt]))[0])
    const fetches = issuer.requests.length
    const unknown = await Promise.all(Array.from({ length: 20 }, (_, index) => next.sign({}, { kid: `${index}` })))
    const flood = await statusesOf(unknown)

    expect([...before, rotated]).toEqual([404, 404])
    expect(flood).toEqual(unknown.map(() => 401))
    expect(issuer.requests).toHaveLength(fetches)
  })

  test('while the issuer is down or redirects, a JWT is neither accepted nor rejected (threat 11)', async ({
    engine,
    onTestFinished,
  }) => {
    const { issuer, get, statusOf } = await serve(runtime, { engine, onTestFinished })
    const target = issuer.jwksUrl.replace('/jwks', '/elsewhere')
    issuer.respond = (response) => response.writeHead(302, { Location: target }).end()
    const jwt = `Bearer ${await signer.sign()}`

    const { status, body, headers } = await get('/nope', jwt)
    const others = [await statusOf(`Bearer ${OPERATOR}`), await statusOf(`Bearer ${TOKEN}`)]
    issuer.respond = (response) => response.destroy()
    const down = await statusOf(jwt)
    issuer.respond = issuer.respondKeys

    expect([status, body.error, headers.get('Retry-After')]).toEqual([503, 'AuthUnavailableError', '5'])
    expect([...others, down]).toEqual([404, 404, 503])
    await until('the keys are fetched', async () => (await statusOf(jwt)) === 404)
    expect(issuer.requests.filter((path) => path !== '/jwks')).toEqual([])
  })

  test('a request over the limits of its rule is a 429, and no other caller notices (threat 29)', async ({
    engine,
    onTestFinished,
  }) => {
    const { get } = await serve(runtime, { engine, onTestFinished })
    const slow = await Promise.all(['ada', 'eve'].map((sub) => signer.sign({ sub, plan: 'slow' })))
    const read = async (jwt = '') => get('/workflow/none/status', `Bearer ${jwt}`)

    const answers = [await read(slow[0]), await read(slow[0]), await read(slow[1])]

    expect(answers.map(({ status }) => status)).toEqual([404, 429, 404])
    expect(answers[1]?.body).toMatchObject({ error: 'TooManyRequestsError' })
    expect(answers[1]?.headers.get('Retry-After')).toBe('100')
  })
})
