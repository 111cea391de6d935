/** Credentials while the service runs: threats 4, 5 and 24 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { makeApi } from '../../support/api.ts'
import { hashOf, OPERATOR, rejectionOf, testWithCallers, tokenOf, tokenRule } from './callers.ts'

const USERS = {
  name: 'users',
  who: { jwt: 'main' },
  can: ['start', 'read', 'list'],
  ids: ['u:{sub}:*'],
}
const ORG = { name: 'org', who: { jwt: 'main' }, can: ['read', 'list'], ids: ['o:{/org/id}:*'] }
const CI = { can: ['start', 'read'], ids: ['ci:*'] }

const test = testWithCallers([tokenRule('ci', CI), tokenRule('gone', CI), USERS, ORG])

const READ = '/workflow/ci:1/status'

test('a new policy counts for the next request, also of callers that are remembered (threat 4)', async ({
  startCallers,
}) => {
  const { service, as, withClaims, policyOf } = await startCallers()
  const ada = await withClaims({ sub: 'ada' })
  const read = async (api = as('ci'), path = READ) => (await api.call('GET', path)).status
  const all = async () => [
    await read(),
    await read(as('ci', 'next')),
    await read(as('gone')),
    await read(ada, '/workflow/u:ada:1/status'),
  ]

  const before = await all()
  service.setPolicy(
    policyOf(
      { name: 'ci', who: { token: [hashOf('next'), hashOf(tokenOf('ci'))] }, ...CI },
      { ...USERS, can: ['start'] },
    ),
  )
  const both = await all()
  service.setPolicy(policyOf({ name: 'ci', who: { token: hashOf('next') }, ...CI }))
  const after = await all()

  expect(before).toEqual([404, 401, 404, 404])
  expect(both).toEqual([404, 404, 401, 403])
  // A JWT without a rule is a caller without rights.
  expect(after).toEqual([401, 404, 401, 403])
})

test('a caller loses what its rule loses while it waits for its next request, in lists too (threat 4)', async ({
  startCallers,
}) => {
  const { service, as, policyOf } = await startCallers()
  const start = (workflowId: string) => as('ci').start('nothing', null, { workflowId })

  const before = await start(`ci:${crypto.randomUUID()}`)
  service.setPolicy(policyOf(tokenRule('ci', { ...CI, ids: ['ci2:*'] })))

  expect(before.status).toBe(200)
  expect(rejectionOf(await start(`ci:${crypto.randomUUID()}`))).toEqual([403, 'ForbiddenError', 'start'])
  expect((await start(`ci2:${crypto.randomUUID()}`)).status).toBe(200)
})

test('the shared token may do everything beside any policy, and nothing else may (threat 5)', async ({
  startCallers,
  serve,
  catalog,
}) => {
  const { service, operator, policyOf } = await startCallers()
  service.setPolicy(policyOf())
  const workflowId = `ci:${crypto.randomUUID()}`

  const started = await operator.start('messages', null, { workflowId, memo: { a: 1 } })
  const ended = await operator.post(`${workflowId}/terminate`)
  // The version is null if the engine has not responded within a second.
  const capabilities = await until('the engine responds in time', async () => {
    const answer = await operator.call('GET', '/capabilities')
    return answer.body?.engine?.version !== null && answer
  })

  expect([started, ended, capabilities].map(({ status }) => status)).toEqual([200, 200, 200])
  expect(capabilities.body.engine.version).toMatch(/^\d/)
  const withoutToken = serve({ SERVICE_CATALOG_ID: catalog, SERVICE_POLICY: JSON.stringify(policyOf()) })
  const anonymous = [undefined, OPERATOR].map((token) =>
    makeApi({ fetch: withoutToken.fetch, ...(token && { token }) }),
  )
  const answers = await Promise.all(anonymous.map((api) => api.call('GET', READ)))
  // SERVICE_ALLOW_ANONYMOUS is set for the services of tests: it opens nothing beside a policy.
  expect(answers.map(({ status }) => status)).toEqual([401, 401])
})

test('a rule with the hash of the shared token does not narrow it (threat 5)', async ({ startCallers }) => {
  const { service, operator, policyOf } = await startCallers()
  service.setPolicy(policyOf(tokenRule('narrow', { can: ['list'] }, OPERATOR)))

  expect((await operator.call('GET', READ)).status).toBe(404)
})

test('no claim becomes a wildcard, a delimiter, another claim or another case of one (threat 24)', async ({
  startCallers,
}) => {
  const { withClaims, operator } = await startCallers()
  const victims = ['u:ada:1', 'u:bob:1', 'o:acme:1'].map((id) => `${id}-${crypto.randomUUID()}`)
  for (const workflowId of victims) await operator.start('nothing', null, { workflowId })
  const intruders = [
    ...[
      '*',
      'ada:*',
      'a*',
      'Ada',
      'ADA',
      'ada ',
      'ada\u0000',
      'ada\n',
      'ａda',
      '{sub}',
      '~61da',
      'bob:1',
      ':',
      'u:ada:',
      '%61da',
      'ad',
    ].map((sub) => ({ sub, org: { id: 'none' } })),
    { sub: 'x', org: { id: '*' } },
    { sub: 'x', org: { id: ['acme'] } },
    { sub: 'x', org: { id: { acme: true } } },
    { sub: 'x', org: 'acme' },
    { sub: 'x', '/org/id': 'acme' },
    { sub: 'x', org: { id: 'Acme' } },
    { sub: 'x', org: { id: '' } },
  ]

  for (const claims of intruders) {
    const api = await withClaims(claims)
    const reads = await Promise.all(victims.map((id) => api.get(`${id}/status`)))
    const list = await api.get('runs?pageSize=100')
    expect([claims, ...reads.map(({ status }) => status)]).toEqual([claims, 403, 403, 403])
    expect([403, 200]).toContain(list.status)
    const rows: { workflowId: string }[] = list.body.runs ?? []
    expect(rows.filter(({ workflowId }) => /^(?:u:(?:ada|bob)|o:acme):/.test(workflowId))).toEqual([])
  }
  const ada = await withClaims({ sub: 'ada', org: { id: 'acme' } })
  expect(await Promise.all(victims.map(async (id) => (await ada.get(`${id}/status`)).status))).toEqual([200, 403, 200])
})

test('a JWT without a claim of the rule has no rights by it, and another JWT of the same user none of the first (threats 24, 25)', async ({
  startCallers,
}) => {
  const { service, withClaims, policyOf } = await startCallers()
  const support = { name: 'support', who: { jwt: 'main', claims: { '/realm/roles': 'support' } }, can: ['read'] }
  service.setPolicy(policyOf(support))
  const read = async (claims: object) => (await (await withClaims({ sub: 'ada', ...claims })).call('GET', READ)).status

  expect(await read({ realm: { roles: ['user', 'support'] } })).toBe(404)
  expect(await read({ realm: { roles: ['user'] } })).toBe(403)
  expect(await read({ realm: { roles: 'support' } })).toBe(404)
  expect(await read({ realm: { roles: 'support,user' } })).toBe(403)
  expect(await read({ '/realm/roles': 'support' })).toBe(403)
  expect(await read({ realm: { roles: { support: 'support' } } })).toBe(403)
})
