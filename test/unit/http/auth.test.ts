import { expect, test } from 'vitest'
import { makeApi } from './api.ts'

async function statusFor(authorization: string | null, tokens = ['s3cret']) {
  const { call } = makeApi({
    auth: { tokens },
    workflows: { catalog: async (catalog) => ({ catalog, inputsChecked: true, workflows: [] }) },
  })
  const response = await call(
    'GET',
    '/workflow/catalog',
    undefined,
    authorization === null ? {} : { Authorization: authorization },
  )
  return response.status
}

test.for<[form: string, authorization: string, tokens?: string[]]>([
  ['the raw token after Basic, as in the specification', 'Basic s3cret'],
  ['a Bearer token', 'Bearer s3cret'],
  ['the token as the password of any user, as curl -u sends it', `Basic ${btoa('anything:s3cret')}`],
  ['the token as the password of no user', `Basic ${btoa(':s3cret')}`],
  ['a token with a colon from curl -u', `Basic ${btoa('user:a:b')}`, ['a:b']],
  ['Basic in any case', 'bAsIc s3cret'],
  ['Bearer in any case', 'BEARER s3cret'],
  ['the first token of a list', 'Basic new', ['new', 'old']],
  ['the last token of a list', 'Basic old', ['new', 'old']],
])('requireToken: accepts %s', async ([, authorization, tokens]) => {
  expect(await statusFor(authorization, tokens)).toBe(200)
})

test('requireToken: rejects a token that is missing, wrong, truncated, too long, a list, or of another scheme', async () => {
  const rejected = [
    null,
    '',
    'Basic',
    'Basic ',
    'Bearer ',
    's3cret',
    'Basic s3cre',
    'Basic s3crett',
    'Basic S3CRET',
    'Basic wrong',
    'Basic new,old',
    'Digest s3cret',
    `Bearer ${btoa('anything:s3cret')}`,
    `Basic ${btoa('s3cret')}`,
    `Basic ${btoa('s3cret:')}`,
    `Basic ${btoa(':')}`,
    'Basic !!!!',
    'Basic A',
  ]

  const statuses = await Promise.all(
    rejected.map((authorization) => statusFor(authorization, ['s3cret', 'new', 'old'])),
  )

  expect(statuses).toEqual(rejected.map(() => 401))
})

test('requireToken: responds with WWW-Authenticate', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const response = await call('GET', '/workflow/catalog')

  expect(response.headers.get('WWW-Authenticate')).toMatch(/^Basic realm="/)
  expect(await response.json()).toMatchObject({ error: 'UnauthorizedError', status: 401, source: 'gateway' })
})

test('requireToken: comes before the checks of route, method and path', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const statuses = [
    await call('GET', '/nope'),
    await call('GET', '/workflow/run'),
    await call('GET', '/workflow/%zz/status'),
  ]

  expect(statuses.map((response) => response.status)).toEqual([401, 401, 401])
})

test('requireToken: does not read the body of an unauthorized request', async () => {
  const { fetch } = makeApi({ auth: { tokens: ['s3cret'] } })
  let pulled = 0
  const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })

  const response = await fetch(
    new Request('http://portico.test/workflow/run', { method: 'POST', body, duplex: 'half' } as RequestInit),
  )

  expect([response.status, pulled]).toEqual([401, 0])
})
