import { expect, test } from 'vitest'
import { createCallers } from '../../../../../src/service/http/credentials/callers.ts'
import type { Rule } from '../../../../../src/shared/access/caller.ts'
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
