/** Credentials on each runtime, whose `fetch` and `crypto` differ, with JWTs of a real identity provider. */
import { createHash, createSecretKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { beforeAll, describe, expect, type TestContext } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { EVERY_RUNTIME, GRPC_RUNTIMES, RUNTIMES } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { ALGORITHMS, type IdentityProvider, startIdentityProvider, type User } from '../support/identity-provider.ts'
import { AUDIENCE, claimsOf, createSigner, type Signer, unsigned } from '../support/jwt-signer.ts'
import { metricsOf } from '../support/prometheus.ts'
import { promisedError, promisedMs } from '../support/promises.ts'
import { readiness } from '../support/readiness.ts'

const OPERATOR = 'operator-s3cret'
const TOKEN = 'ptc_of-a-rule'
const HASH = createHash('sha256').update(TOKEN).digest('hex')

/** The keys of the identity provider, which signs with them and lends them to attackers. */
let signers: Signer[]

beforeAll(async () => {
  signers = await Promise.all(ALGORITHMS.map((algorithm) => createSigner(algorithm, algorithm)))
})

async function startIssuer({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<IdentityProvider> {
  const issuer = await startIdentityProvider(signers)
  onTestFinished(issuer.stop)
  return issuer
}

/** A service with a policy, and its issuer. A test that replaces keys before they are fetched brings the issuer. */
async function serve(
  runtime: keyof typeof EVERY_RUNTIME,
  { engine: { address }, onTestFinished }: Pick<TestContext, 'onTestFinished'> & { engine: { address: string } },
  existing?: IdentityProvider,
) {
  const issuer = existing ?? (await startIssuer({ onTestFinished }))
  const policy = {
    version: 1,
    issuers: { main: { issuer: issuer.issuer, audience: AUDIENCE, jwksUrl: issuer.jwksUrl } },
    rules: [
      { name: 'ci', who: { token: `sha256:${HASH}` }, can: ['start'] },
      { name: 'users', who: { jwt: 'main' }, can: ['read'], ids: ['u:{sub}:*'] },
      { name: 'acme', who: { jwt: 'main', claims: { org: 'acme' } }, can: ['read'], ids: ['acme:*'] },
      { name: 'support', who: { jwt: 'main', claims: { '/realm_access/roles': 'support' } }, can: ['list'] },
      { name: 'slow', who: { jwt: 'main', claims: { plan: 'slow' } }, can: ['read'], limits: { perSecond: 0.01 } },
    ],
  }
  const service = await EVERY_RUNTIME[runtime]({
    SERVICE_CATALOG_ID: 'any',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_API_AUTH_TOKEN: OPERATOR,
    SERVICE_POLICY: JSON.stringify(policy),
    ENGINE_ADDRESS: address,
  })
  onTestFinished(service.stop)
  const { call } = makeApi({ url: service.url })
  await readiness({ call })
  const get = (path: string, authorization?: string) =>
    call('GET', path, undefined, authorization === undefined ? {} : { Authorization: authorization })
  /** 404 with a valid credential: the path has no route. */
  const statusOf = async (authorization?: string) => (await get('/nope', authorization)).status
  const statusesOf = (jwts: readonly string[]) => Promise.all(jwts.map((jwt) => statusOf(`Bearer ${jwt}`)))
  const jwtsOf = (...users: User[]) => Promise.all(users.map((user) => issuer.issue(user)))
  return { issuer, get, statusOf, statusesOf, jwtsOf, service }
}

describe.concurrent.for(RUNTIMES)('credentials on %s', (runtime) => {
  test('each credential is accepted in three forms, and no other (threats 1, 2, 3, 5)', async ({
    engine,
    onTestFinished,
  }) => {
    const { issuer, statusOf } = await serve(runtime, { engine, onTestFinished })
    const forms = (token: string) => [`Basic ${token}`, `bearer ${token}`, `Basic ${btoa(`anybody:${token}`)}`]
    const valid = [OPERATOR, TOKEN, await issuer.issue('ada')].flatMap(forms)
    const invalid = [HASH, `sha256:${HASH}`, 'wrong', 'a.b.c'].flatMap(forms)

    const statuses = await Promise.all([...valid, ...invalid, undefined].map(statusOf))

    expect(statuses).toEqual([...valid.map(() => 404), ...invalid.map(() => 401), 401])
  })

  test('the subject, the organization and the roles of a JWT decide what it may do', async ({
    engine,
    onTestFinished,
  }) => {
    const { get, jwtsOf } = await serve(runtime, { engine, onTestFinished })
    const jwts = await jwtsOf('ada', 'ben', 'eve')
    const paths = [...['u:ada:1', 'u:ben:1', 'acme:1'].map((id) => `/workflow/${id}/status`), '/workflow/runs']

    const statuses = await Promise.all(
      jwts.map((jwt) => Promise.all(paths.map(async (path) => (await get(path, `Bearer ${jwt}`)).status))),
    )

    expect(statuses).toEqual([
      [404, 403, 404, 200],
      [403, 404, 403, 403],
      [403, 403, 404, 403],
    ])
  })

  test("a JWT counts only with the issuer's signature and claims (threats 6, 7, 8)", async ({
    engine,
    onTestFinished,
  }) => {
    const { issuer, statusesOf, get } = await serve(runtime, { engine, onTestFinished })
    const [signer = await createSigner()] = signers
    const { kid = '' } = signer.jwk
    const ours = { iss: issuer.issuer }
    const attacker = await createSigner('attacker')
    const secret = createSecretKey(Buffer.from(JSON.stringify(signer.jwk)))
    const valid = await Promise.all(ALGORITHMS.map((algorithm) => issuer.issue('ada', { algorithm })))
    const forged = await Promise.all([
      unsigned({ alg: 'none', kid }, claimsOf(ours)),
      new SignJWT(claimsOf(ours)).setProtectedHeader({ alg: 'HS256', kid }).sign(secret),
      attacker.sign(ours, { kid }),
      attacker.sign(ours, { kid, jwk: attacker.jwk }),
      attacker.sign(ours, { kid, jku: `${issuer.issuer}/attacker` }),
      signer.sign({ ...ours, aud: undefined }),
      signer.sign({ ...ours, sub: undefined }),
      signer.sign({ ...ours, exp: undefined }),
      signer.sign({ ...ours, nbf: Math.floor(Date.now() / 1000) + 3600 }),
      signer.sign({ iss: 'https://attacker.example/' }),
      issuer.issue('ada', { audience: 'other' }),
      issuer.issue('ada', { expiredSeconds: 60 }),
    ])

    expect(await statusesOf([...valid, await signer.sign(ours)])).toEqual([...valid.map(() => 404), 404])
    expect(await statusesOf(forged)).toEqual(forged.map(() => 401))
    const messages = await Promise.all(
      [forged[0], forged.at(-1)].map(async (jwt) => (await get('/nope', `Bearer ${jwt}`)).body.message),
    )
    expect(messages).toEqual(['not valid', 'expired'].map((word) => expect.stringMatching(new RegExp(`is ${word}$`))))
    expect(issuer.requests).not.toContain('/attacker')
  })

  test('a new key is fetched when a JWT names it, and a flood of unknown keys is not (threats 9, 10)', async ({
    engine,
    onTestFinished,
  }) => {
    const { issuer, statusesOf, jwtsOf } = await serve(runtime, { engine, onTestFinished })
    const next = await createSigner('second')
    const [first = '', second = ''] = await jwtsOf('ada', 'ben')
    const before = await statusesOf([first])
    issuer.setKeys([next, ...signers])
    const jwt = await issuer.issue('ada')

    // 30 s after the keys were fetched.
    await until('the new key is known', async () => (await statusesOf([jwt]))[0] === 404)
    const published = await statusesOf([second])
    const fetches = issuer.requests.length
    const unknown = await Promise.all(
      Array.from({ length: 20 }, (_, index) => next.sign({ iss: issuer.issuer }, { kid: `${index}` })),
    )
    const flood = await statusesOf(unknown)

    expect([...before, ...published]).toEqual([404, 404])
    expect(flood).toEqual(unknown.map(() => 401))
    expect(issuer.requests).toHaveLength(fetches)
  })

  test('while the issuer is down, JWTs with known keys are accepted, and others are not rejected (threat 11) (failure 38)', async ({
    engine,
    onTestFinished,
  }) => {
    const issuer = await startIssuer({ onTestFinished })
    issuer.setKeys([await createSigner('second'), ...signers])
    const unknown = await issuer.issue('ada')
    issuer.setKeys(signers)
    const { get, statusesOf, jwtsOf } = await serve(runtime, { engine, onTestFinished }, issuer)
    const [first = '', second = '', third = ''] = await jwtsOf('ada', 'ben', 'eve')
    const before = await statusesOf([first])
    const fetchedAt = performance.now()
    await issuer.stop()

    let lastRejectedMs = 0
    const { status, body } = await until('an unknown key causes a fetch', async () => {
      const sentAfterMs = performance.now() - fetchedAt
      const answer = await get('/nope', `Bearer ${unknown}`)
      if (answer.status !== promisedError(38, '401')[0]) return answer
      lastRejectedMs = sentAfterMs
      return null
    })
    const down = await statusesOf([second, unknown])
    await issuer.start()
    const after = await statusesOf([third, await issuer.issue('ada')])

    expect(lastRejectedMs).toBeGreaterThan(0)
    expect(lastRejectedMs).toBeLessThan(promisedMs(38, '30 s'))
    expect([status, body.error]).toEqual(promisedError(38, '503 AuthUnavailableError'))
    expect({ before, down, after }).toEqual({ before: [404], down: [404, 503], after: [404, 404] })
  })

  test('until the keys can be fetched, a JWT is neither accepted nor rejected (threat 11)', async ({
    engine,
    onTestFinished,
  }) => {
    const issuer = await startIssuer({ onTestFinished })
    issuer.interceptKeys = (response) => response.writeHead(302, { Location: `${issuer.issuer}/elsewhere` }).end()
    const { get, statusOf } = await serve(runtime, { engine, onTestFinished }, issuer)
    const jwt = `Bearer ${await issuer.issue('ada')}`

    const { status, body, headers } = await get('/nope', jwt)
    const others = [await statusOf(`Bearer ${OPERATOR}`), await statusOf(`Bearer ${TOKEN}`)]
    await issuer.stop()
    const down = await statusOf(jwt)
    issuer.interceptKeys = null
    await issuer.start()

    expect([status, body.error, headers.get('Retry-After')]).toEqual([503, 'AuthUnavailableError', '5'])
    expect([...others, down]).toEqual([404, 404, 503])
    await until('the keys are fetched', async () => (await statusOf(jwt)) === 404)
    expect(issuer.requests).not.toContain('/elsewhere')
  })

  test('a request over the limits of its rule is a 429, and no other caller notices (threat 29)', async ({
    engine,
    onTestFinished,
  }) => {
    const { get, jwtsOf } = await serve(runtime, { engine, onTestFinished })
    const [sam, tom] = await jwtsOf('sam', 'tom')
    const read = async (jwt = '') => get('/workflow/none/status', `Bearer ${jwt}`)

    const answers = [await read(sam), await read(sam), await read(tom)]

    expect(answers.map(({ status }) => status)).toEqual([404, 429, 404])
    expect(answers[1]?.body).toMatchObject({ error: 'TooManyRequestsError' })
    // 100 s, less the time between the two on a busy machine.
    expect(answers[1]?.headers.get('Retry-After')).toMatch(/^(100|9\d)$/)
  })
})

// Without the token it says so: test/runtimes/policy-file.test.ts.
test.concurrent.for(GRPC_RUNTIMES)(
  'on %s the log of the start says that there is a shared token beside the policy (threat 5)',
  async (runtime, { engine, onTestFinished }) => {
    const { service } = await serve(runtime, { engine, onTestFinished })

    expect(service.output()).toMatch(/"open":false,"rules":5,"operators":true/)
  },
)

test.concurrent.for(GRPC_RUNTIMES)(
  'on %s the age of the keys of each issuer is a metric (failure 38)',
  async (runtime, { engine, onTestFinished }) => {
    const { service, statusesOf, jwtsOf } = await serve(runtime, { engine, onTestFinished })
    await statusesOf(await jwtsOf('ada'))

    const ages = (await metricsOf(service)).filter(({ name }) => name === 'portico_jwks_age_seconds')

    expect(ages).toEqual([expect.objectContaining({ labels: { issuer: 'main' }, value: expect.any(Number) })])
  },
)
