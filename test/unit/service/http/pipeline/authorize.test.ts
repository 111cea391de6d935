import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { type Env, jsonResponse, type RequestStep, requestId } from '../../../../../src/service/http/context.ts'
import { createCallers } from '../../../../../src/service/http/credentials/callers.ts'
import { requireNamespace } from '../../../../../src/service/http/pipeline/authorize.ts'
import { serve } from '../../../../../src/service/http/pipeline/serve.ts'
import type { Caller, Grant, Rule } from '../../../../../src/shared/access/caller.ts'
import { callerOf } from '../../../../../src/shared/access/grant.ts'
import { type ApiOptions, makeApi, rejection, running } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'

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

test('authenticate: comes before the checks of route, method and path (threat 1)', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const statuses = [
    await call('GET', '/nope'),
    await call('GET', '/workflow/run'),
    await call('GET', '/workflow/%zz/status'),
  ]

  expect(statuses.map((response) => response.status)).toEqual([401, 401, 401])
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

test.for<[can: string, isAllowed: boolean]>([
  ['signal:approve', true],
  ['read', true],
  ['*', true],
  ['activity:charge', true],
  ['terminate', false],
  ['metrics', false],
])('authorize: the catalog needs a verb on runs or activity, and %s is one: %s', async ([can, isAllowed]) => {
  const { call } = makeApi({
    auth: { policy: tokenPolicy({ name: 'ci', can: [can] }) },
    workflows: { catalog: async ({ catalog }) => ({ catalog, inputsChecked: true, workflows: [], activities: [] }) },
  })

  const { status } = await call('GET', '/workflow/catalog', undefined, bearer('ci'))

  expect(status).toBe(isAllowed ? 200 : 403)
})

test('authorize: a path without a route is a 404 for every caller, not a 403', async () => {
  const { call } = makeApi({ auth: { policy: tokenPolicy({ name: 'prometheus', can: ['metrics'] }) } })

  expect(await rejection(await call('GET', '/nope', undefined, bearer('prometheus')))).toEqual([404, 'NotFoundError'])
})

const OPERATOR: Caller = { kind: 'operator', id: 'operator', limits: null }

function callerWith(...namespaces: (readonly string[] | undefined)[]): Caller {
  const grants = namespaces.map((names): Grant => ({ rule: `r:${names}`, can: ['*'], options: [], namespaces: names }))
  return { kind: 'granted' as const, id: 'token:r', grants, limits: null }
}

/** The response in the namespace `acme` of a service whose paths without a namespace use `default`. */
async function respond(
  caller: Caller | null,
  options: { name?: string; exists?: boolean; isNamespaced?: boolean; method?: string } = {},
) {
  const { name = 'acme', exists = true, isNamespaced = true, method = 'GET' } = options
  let audit: object[] = []
  let rules: unknown
  const authenticate: RequestStep = (c) => {
    audit = c.get('audit')
    if (caller !== null) c.set('caller', caller)
    return undefined
  }
  const gate = requireNamespace({ name, exists, defaultNamespace: 'default', isNamespaced })
  const lines: Readonly<Record<string, unknown>>[] = []
  const log = (_level: string, _message: string, fields = {}) => void lines.push(fields)
  const app = new Hono<Env>()
  app.all(
    '*',
    serve({ log }, [requestId(''), authenticate, gate], (c) => {
      const restricted = c.get('caller')
      rules = restricted?.kind === 'granted' ? restricted.grants.map(({ rule }) => rule) : undefined
      return jsonResponse(c, { reached: true })
    }),
  )
  const response = await app.request('/status', { method, headers: { 'X-Request-Id': 'r' } })
  const { status, headers } = response
  return { status, bytes: `${JSON.stringify([...headers])}\n${await response.text()}`, audit, line: lines[0], rules }
}

test('namespaces: operators, rules that name it, and requests without authentication reach it', async () => {
  const callers = [OPERATOR, null, callerWith(['acme']), callerWith(['other'], ['ac*'])]

  const statuses = await Promise.all(callers.map(async (caller) => (await respond(caller)).status))

  expect(statuses).toEqual([200, 200, 200, 200])
})

test('namespaces: one that is not granted and one that does not exist get the same bytes (threat 35)', async () => {
  const notGranted = await respond(callerWith(['other'], undefined))
  const unknown = await Promise.all(
    [OPERATOR, null, callerWith(['other']), callerWith(['ac*'])].map((caller) => respond(caller, { exists: false })),
  )

  expect(notGranted.status).toBe(404)
  expect(notGranted.bytes).toContain('"NotFoundError"')
  expect(unknown.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 4 }, () => notGranted.bytes))
})

test('namespaces: a rule without namespaces is one for the namespace of paths without one', async () => {
  const caller = callerWith(undefined)

  expect((await respond(caller, { name: 'default' })).status).toBe(200)
  expect((await respond(caller, { name: 'default', isNamespaced: false })).status).toBe(200)
  expect((await respond(caller)).status).toBe(404)
})

test('namespaces: without a prefix, a caller whose rules name others gets 403', async () => {
  const options = { name: 'default', isNamespaced: false }

  const { status, bytes } = await respond(callerWith(['acme']), options)

  expect([status, JSON.parse(bytes.split('\n')[1] ?? '')]).toEqual([
    403,
    expect.objectContaining({ error: 'ForbiddenError', action: 'namespace' }),
  ])
})

test('namespaces: OPTIONS needs no credential, whether the namespace exists or not', async () => {
  const options = await Promise.all([true, false].map((exists) => respond(null, { exists, method: 'OPTIONS' })))

  expect(options.map(({ status }) => status)).toEqual([200, 200])
})

test('namespaces: a denial is audited, and the log names only namespaces that the caller may use', async () => {
  const [granted, denied, unknown] = await Promise.all([
    respond(callerWith(['acme'])),
    respond(callerWith(['other'])),
    respond(OPERATOR, { exists: false }),
  ])

  expect([granted, denied, unknown].map(({ line }) => line?.namespace)).toEqual(['acme', undefined, undefined])
  expect([granted, denied, unknown].map(({ audit }) => audit)).toEqual([
    [],
    [{ action: 'namespace', rule: 'none' }],
    [],
  ])
})

test('namespaces: only the rules for the namespace count', async () => {
  const { rules } = await respond(callerWith(['acme'], ['other'], undefined, ['ac*']))

  expect(rules).toEqual(['r:acme', 'r:ac*'])
})

test.each([
  ['POST', '/workflow/start', 'start'],
  ['GET', '/workflow/w/status', 'read'],
  ['POST', '/workflow/w/signal/go', 'signal'],
  ['GET', '/workflow/runs', 'list'],
])('namespaces: a credential without rules gets 403 with the action of %s %s', async (method, path, action) => {
  const rule: Rule = { name: 'users', who: { jwt: 'main', claims: { role: ['user'] } }, can: ['*'] }
  const caller = callerOf({ jwt: 'main', claims: { sub: 'ada' } }, { rules: [rule] })
  const callers = createCallers({ operatorTokens: [], policy: null, onKeysUnavailable() {} })
  const { call, events } = makeApi({ callers: { ...callers, identify: () => caller, knows: () => true } } as ApiOptions)

  const body = method === 'POST' ? {} : undefined
  const response = await call(method, path, body, { Authorization: 'Bearer x' })

  expect([response.status, await response.json()]).toEqual([
    403,
    expect.objectContaining({ error: 'ForbiddenError', action, message: 'No rule applies to this credential' }),
  ])
  expect(events.find(({ message }) => message === 'request')?.fields.reason).toBe('no rule')
})
