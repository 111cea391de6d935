import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../../src/http/endpoints/endpoints.ts'
import { makeApi, never, rejection, running } from './api.ts'
import { bearer, tokenPolicy } from './policies.ts'

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
])('authenticate: accepts %s', async ([, authorization, tokens]) => {
  expect(await statusFor(authorization, tokens)).toBe(200)
})

test('authenticate: rejects a token that is missing, wrong, truncated, too long, a list, or of another scheme', async () => {
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

test('authenticate: WWW-Authenticate names the schemes, and says whether a credential was presented (threat 1)', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const without = await call('GET', '/workflow/catalog')
  const wrong = await call('GET', '/workflow/catalog', undefined, { Authorization: 'Basic wrong' })

  const schemes = 'Basic realm="portico", charset="UTF-8", Bearer realm="portico"'
  expect(without.headers.get('WWW-Authenticate')).toBe(schemes)
  expect(wrong.headers.get('WWW-Authenticate')).toBe(`${schemes}, error="invalid_token"`)
  expect(await without.json()).toMatchObject({
    error: 'UnauthorizedError',
    message: expect.stringMatching(/is missing$/),
  })
  expect(await wrong.json()).toMatchObject({
    status: 401,
    source: 'gateway',
    message: expect.stringMatching(/is not valid$/),
  })
})

test('authenticate: comes before the checks of route, method and path', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const statuses = [
    await call('GET', '/nope'),
    await call('GET', '/workflow/run'),
    await call('GET', '/workflow/%zz/status'),
  ]

  expect(statuses.map((response) => response.status)).toEqual([401, 401, 401])
})

test('authenticate: does not read the body of an unauthorized request', async () => {
  const { fetch } = makeApi({ auth: { tokens: ['s3cret'] } })
  let pulled = 0
  const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })

  const response = await fetch(
    new Request('http://portico.test/workflow/run', { method: 'POST', body, duplex: 'half' } as RequestInit),
  )

  expect([response.status, pulled]).toEqual([401, 0])
})

test('authenticate: verbs get the caller, also if it was not known yet', async () => {
  const callers: (string | undefined)[] = []
  const { call } = makeApi({
    auth: { tokens: ['s3cret'], policy: tokenPolicy({ name: 'ci', can: ['read'] }) },
    workflows: {
      async status(_, call) {
        callers.push(call.caller?.id)
        return running
      },
    },
  })

  for (const token of ['ci', 'ci', 's3cret']) await call('GET', '/workflow/w/status', undefined, bearer(token))

  expect(callers).toEqual(['token:ci', 'token:ci', 'operator'])
})

test('authorize: a caller without the verb gets 403 with the action, before the body is read (threats 14, 15)', async () => {
  const { fetch, call } = makeApi({ auth: { policy: tokenPolicy({ name: 'ci', can: ['start', 'signal:approve'] }) } })
  let pulled = 0
  const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })
  const init = { method: 'POST', body, duplex: 'half', headers: bearer('ci') } as RequestInit

  const query = await fetch(new Request('http://portico.test/workflow/w/query/state', init))
  const status = await call('GET', '/workflow/w/status', undefined, bearer('ci'))

  expect(await query.json()).toMatchObject({ status: 403, error: 'ForbiddenError', action: 'query' })
  expect(pulled).toBe(0)
  expect(await status.json()).toMatchObject({ status: 403, error: 'ForbiddenError', action: 'read' })
})

test('authorize: with metrics as its only verb a caller gets 403 everywhere but on public routes, /capabilities and /metrics', async () => {
  const { call } = makeApi({
    auth: { policy: tokenPolicy({ name: 'prometheus', can: ['metrics'] }) },
    readMetrics: () => 'up 1\n',
    mcp: { waitMs: 0, ttlMs: 0 },
    workflows: { capabilities: never, ready: async () => 'reachable' },
  })

  const statuses = await Promise.all(
    ENDPOINTS.map(async ({ method, path, access }) => {
      const { status } = await call(method.toUpperCase(), path.replace(/:\w+/g, 'x'), undefined, bearer('prometheus'))
      return [path, access, status === 403]
    }),
  )

  const isOpen = (access: unknown) => access === null || access === 'any' || access === 'metrics'
  expect(statuses).toEqual(ENDPOINTS.map(({ path, access }) => [path, access, !isOpen(access)]))
})

test.for<[can: string, isAllowed: boolean]>([
  ['signal:approve', true],
  ['read', true],
  ['*', true],
  ['terminate', false],
  ['metrics', false],
])('authorize: the catalog needs a verb on runs, and %s is one: %s', async ([can, isAllowed]) => {
  const { call } = makeApi({
    auth: { policy: tokenPolicy({ name: 'ci', can: [can] }) },
    workflows: { catalog: async (catalog) => ({ catalog, inputsChecked: true, workflows: [] }) },
  })

  const { status } = await call('GET', '/workflow/catalog', undefined, bearer('ci'))

  expect(status).toBe(isAllowed ? 200 : 403)
})

test('authorize: a path without a route is a 404 for every caller, not a 403', async () => {
  const { call } = makeApi({ auth: { policy: tokenPolicy({ name: 'prometheus', can: ['metrics'] }) } })

  expect(await rejection(await call('GET', '/nope', undefined, bearer('prometheus')))).toEqual([404, 'NotFoundError'])
})
