import { beforeAll, expect, test } from 'vitest'
import { explainPolicy } from '../../../../src/cli/policy/explain-policy.ts'
import { identityOfJwt, type JwtExplanation } from '../../../../src/cli/policy/explained-jwt.ts'
import { checkCaller, type QuestionFlags, readQuestion } from '../../../../src/cli/policy/question.ts'
import { readJwt } from '../../../../src/cli/policy/read-jwt.ts'
import { parsePolicy } from '../../../../src/shared/config/policy.ts'
import { createSigner, ISSUER, type Signer } from '../../../support/jwt-signer.ts'

const parsed = parsePolicy({
  version: 1,
  issuers: {
    main: { issuer: ISSUER, audience: 'portico', jwksUrl: 'https://login.example.com/jwks' },
    cognito: { issuer: 'https://c/', audience: 'app', audienceClaim: 'client_id', jwksUrl: 'https://c/jwks' },
  },
  rules: [
    { name: 'users', who: { jwt: 'main' }, can: ['read'], ids: ['u:{sub}:*'] },
    { name: 'starters', who: { jwt: 'main', claims: { scope: 'orders:start' } }, can: ['start'] },
  ],
})
if ('issues' in parsed) throw new Error(parsed.issues.join('\n'))
const { policy } = parsed

let signer: Signer
let stranger: Signer

beforeAll(async () => {
  signer = await createSigner()
  stranger = await createSigner()
})

const read = (jwt: string, respond = async () => Response.json({ keys: [signer.jwk] })) =>
  readJwt(jwt, policy, { fetch: respond })

function explain(action: string, jwt: JwtExplanation) {
  return explainPolicy(policy.rules, readQuestion(policy, action, { id: 'u:ada:7' }, {}, identityOfJwt(jwt)), jwt)
}

test('readJwt: says what a valid JWT says, and the rules that apply', async () => {
  const jwt = await read(await signer.sign({ scope: 'openid orders:read', scp: ['more'] }))

  expect(jwt).toMatchObject({ issuer: 'main', audience: ['portico'], claims: { sub: 'ada' }, rejected: null })
  expect(jwt.scopes).toEqual(['openid', 'orders:read', 'more'])
  expect(explain('read', jwt)).toMatchObject({ caller: 'jwt:main:ada', verdict: 'allowed', rule: 'users', jwt })
  expect(explain('start', jwt)).toMatchObject({
    verdict: 'denied',
    rules: [
      { result: 'rejects', reason: 'it can only read' },
      { result: 'does not apply', reason: 'the claim scope must be or contain orders:start' },
    ],
  })
})

test('readJwt: names the reason that the log of the service has', async () => {
  const rows: [rejected: string, jwt: Promise<string>][] = [
    ['unknown issuer', signer.sign({ iss: 'https://other/' })],
    ['aud', signer.sign({ aud: 'x' })],
    ['expired', signer.sign({ exp: 1 })],
    ['sub', signer.sign({ sub: undefined })],
    ['signature', stranger.sign()],
    ['no matching key', signer.sign({}, { kid: 'second' })],
  ]

  for (const [rejected, jwt] of rows) expect(await read(await jwt)).toMatchObject({ rejected })
})

test('readJwt: a rejected JWT may do nothing, and the rules are explained as if it were valid', async () => {
  const expired = await read(await signer.sign({ exp: 1 }))
  const foreign = await read(await signer.sign({ iss: 'https://other/', sub: undefined }))

  expect(explain('read', expired)).toMatchObject({ verdict: 'denied', rule: null, rules: [{ result: 'allows' }, {}] })
  expect(explain('read', foreign)).toMatchObject({
    caller: null,
    verdict: 'denied',
    jwt: { issuer: null },
    rules: [{ reason: 'it is for JWTs of the issuer main' }, {}],
  })
})

test('readJwt: keys that cannot be fetched are no fault of the JWT', async () => {
  const jwt = await read(await signer.sign(), () => Promise.reject(new Error('connection refused')))

  expect(jwt).toMatchObject({ issuer: 'main', rejected: 'keys unavailable' })
})

test('readJwt: what is not a JWT is rejected without showing it', async () => {
  await expect(read('s3cret')).rejects.toThrow('--jwt: this is not a JWT')
})

test.for<[flags: QuestionFlags, message: string]>([
  [{}, 'use either --as or --jwt'],
  [{ as: 'jwt:main', jwt: 'x' }, 'use either --as or --jwt'],
  [{ jwt: 'x', claim: ['sub=ada'] }, '--claim is for --as'],
])('checkCaller: rejects %j', ([flags, message]) => {
  expect(() => checkCaller(flags)).toThrow(message)
})
