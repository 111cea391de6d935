/** Who may do what with standalone activities: docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import { activityCalls } from '../../conformance/activities-alone.ts'
import type { Api } from '../../support/api.ts'
import { parseMetrics, sumOf } from '../../support/prometheus.ts'
import { rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const OLD_VERBS = [
  ...['start', 'read', 'list', 'signal', 'query', 'update', 'complete', 'repair', 'stop', 'terminate', 'pause'],
  ...['reset', 'delegate', 'link', 'metrics', 'schedule'],
]
const ours = { ids: ['acme:*'], catalogs: ['*'] }

const test = testWithCallers([
  tokenRule('all', { can: ['*'], ...ours }),
  tokenRule('older', { can: OLD_VERBS, ...ours }),
  tokenRule('typed', { can: ['activity:out*', 'activity:echoBack'], ...ours }),
  tokenRule('workflows', { can: ['*'], ...ours, workflows: ['nothing'] }),
  tokenRule('plain', { can: ['activity'], ...ours }),
  tokenRule('elsewhere', { can: ['activity'], ids: ['acme:*'], catalogs: ['other'] }),
])

const idOf = (name: string) => `acme:${name}-${crypto.randomUUID()}`

async function statusesOf(api: Api, id: string) {
  const { get, post, stop } = activityCalls(api, id)
  const answers = [
    ...[await get('status'), await get('result'), await stop()],
    ...[await post('heartbeat'), await post('complete'), await post('fail', { message: 'no' })],
    await post('terminate'),
  ]
  return answers.map(({ status, body }) => [status, body.error])
}

test('no verb of before opens an activity, nor does a rule for workflows, and * opens all', async ({
  callers: { as, operator },
}) => {
  const started = async (id: string) => {
    await activityCalls(operator, id).start('sleeps', { input: 60_000, startDelay: '1h' })
    return id
  }
  const id = await started(idOf('own'))
  const denied = [403, 'ForbiddenError']

  for (const rule of ['older', 'workflows']) {
    expect(await statusesOf(as(rule), id)).toEqual(Array(7).fill(denied))
    expect((await activityCalls(as(rule), idOf('new')).start('outside')).status).toBe(403)
    expect((await as(rule).call('GET', '/activity/runs')).status).toBe(403)
  }
  for (const rule of ['all', 'plain']) {
    expect(await statusesOf(as(rule), await started(idOf(rule)))).toEqual([
      ...[
        [200, undefined],
        [424, 'ActivityNotCompletedError'],
        [200, undefined],
      ],
      ...Array(3).fill([404, 'ActivityNotFoundError']),
      [409, 'ActivityNotRunningError'],
    ])
    expect((await activityCalls(as(rule), idOf('run')).run('echoBack')).body.status).toBe('completed')
    expect((await as(rule).call('GET', '/activity/runs')).status).toBe(200)
  }
  await activityCalls(operator, id).post('terminate')
})

test('a rule narrows to types, ids, catalogs and options (threat 111)', async ({ callers: { as, operator } }) => {
  const start = (rule: string, type: string, more: object = {}, id = idOf('new')) =>
    activityCalls(as(rule), id).start(type, more)
  const foreign = idOf('foreign')
  await activityCalls(operator, foreign).start('sleeps', { input: 60_000 })

  expect((await start('typed', 'outside')).status).toBe(200)
  expect(rejectionOf(await start('typed', 'sleeps'))).toEqual([403, 'ForbiddenError', 'activity:sleeps'])
  expect((await start('plain', 'sleeps', {}, 'other:1')).status).toBe(403)
  expect((await start('plain', 'outside', { startDelay: '1s' })).status).toBe(403)
  expect((await start('elsewhere', 'outside')).status).toBe(403)
  expect(await statusesOf(as('typed'), foreign)).toEqual(Array(7).fill([404, 'ActivityNotFoundError']))
  expect(await statusesOf(as('typed'), idOf('none'))).toEqual(Array(7).fill([404, 'ActivityNotFoundError']))
  const inUse = await start('typed', 'outside', {}, foreign)
  expect([inUse.status, inUse.body.error, inUse.body.runId]).toEqual([409, 'ActivityAlreadyStartedError', undefined])
  await activityCalls(operator, foreign).post('terminate')
})

test('a generated id begins as the rule says, and callers do not share keys', async ({ callers: { as } }) => {
  const key = { 'Idempotency-Key': `shared-${crypto.randomUUID()}` }
  const start = (rule: string) => as(rule).call('POST', '/activity/start', { activityName: 'outside', input: 1 }, key)

  const [one, again, other] = [await start('typed'), await start('typed'), await start('plain')]

  expect(one.body.activityId).toMatch(/^acme:key-/)
  expect(again.body).toEqual(one.body)
  expect(other.body.activityId).not.toBe(one.body.activityId)
  const unkeyed = await as('plain').call('POST', '/activity/run', { activityName: 'echoBack', input: 1 })
  expect(unkeyed.body.activityId).toMatch(/^acme:[\da-f-]{36}$/)
})

test('lists show the activities of the caller alone, to the letter', async ({ callers: { as, operator } }) => {
  const [mine, theirs, upper] = [idOf('list'), idOf('list'), idOf('list').toUpperCase()]
  await activityCalls(operator, mine).run('echoBack')
  await activityCalls(operator, theirs).run('succeedsLater', { retry: { initialInterval: '10ms' } })
  await activityCalls(operator, upper).run('echoBack')
  const idsOf = async (api: Api) => {
    const { body } = await api.call('GET', '/activity/runs?pageSize=1000')
    return body.activities.map(({ activityId }: { activityId: string }) => activityId)
  }

  await expect.poll(() => idsOf(operator)).toEqual(expect.arrayContaining([mine, theirs, upper]))
  const ids = await idsOf(as('typed'))
  expect(ids).toContain(mine)
  expect(ids.filter((id: string) => id === theirs || id === upper)).toEqual([])
})

const REVOKING: [what: string, rules: Parameters<typeof tokenRule>[1][], expected: 200 | 424][] = [
  ['removes the rule', [], 424],
  ['narrows it to another type', [{ can: ['activity:echoBack'], ...ours }], 424],
  ['narrows it to workflows', [{ can: ['activity'], ...ours, workflows: ['outside'] }], 424],
  ['still allows them', [{ can: ['activity:outside'], ...ours }], 200],
]

test.for(REVOKING)(
  'a new policy ends the waits for activities that it does not allow: one that %s',
  async ([, rules, expected], { startCallers }) => {
    const { as, operator, service, policyOf } = await startCallers({ SERVICE_METRICS_ON: 'true' })
    const { id, run, get } = activityCalls(as('plain'), idOf('waits'))
    const waits = async (count: number) => {
      const waiting = async () =>
        sumOf(parseMetrics((await operator.call('GET', '/metrics')).text), 'portico_open_waits')
      await until(`${count} requests wait`, async () => (await waiting()) === count)
    }
    const running = run('outside', { timeout: '60s' })
    await waits(1)
    const reading = get('result?wait=60s')
    await waits(2)

    service.setPolicy(policyOf(...rules.map((rule) => tokenRule('plain', rule))))
    if (expected === 200) await activityCalls(operator, id).post('complete', { output: 1 })
    const answers = await Promise.all([running, reading])

    expect(answers.map(({ status }) => status)).toEqual([expected, expected])
    await waits(0)
    if (expected === 200) return
    for (const { body, headers } of answers) {
      expect([body.error, body.activityId, body.runId]).toEqual([
        'ActivityExecutionTimedOutError',
        id,
        expect.stringMatching(/./),
      ])
      expect(body.message).toMatch(/^The policy no longer allows this/)
      expect(headers.get('Location')).toContain(`/activity/${encodeURIComponent(id)}/result`)
      expect(headers.get('Retry-After')).toBeNull()
    }
    await activityCalls(operator, id).post('terminate')
  },
)

test('a catalog of activities alone lists those that the caller may start, and so does its document', async ({
  callers: { as, operator },
  connection,
}) => {
  const catalog = `alone-${crypto.randomUUID()}`
  const definition = defineCatalog({}, { activities: { echoBack: {}, outside: {}, sleeps: {} } })
  await publishCatalog({ connection, namespace: 'default', catalog, definition, traces: false, identity: 'test' })
  const shownTo = async (api: Api) => {
    const { status, body } = await api.get(`catalog/${catalog}`)
    const document = (await api.call('GET', `/openapi.json?catalog=${catalog}`)).body
    const paths = Object.keys(document.paths ?? {}).filter((path) => path.startsWith('/activity/run#'))
    return [status, body.activities?.map(({ name }: { name: string }) => name), paths.map((path) => path.split('#')[1])]
  }
  const [all, typed] = [
    ['echoBack', 'outside', 'sleeps'],
    ['echoBack', 'outside'],
  ]

  expect(await shownTo(operator)).toEqual([200, all, all])
  expect(await shownTo(as('plain'))).toEqual([200, all, all])
  expect(await shownTo(as('typed'))).toEqual([200, typed, typed])
  expect(await shownTo(as('older'))).toEqual([200, [], []])
  expect(await shownTo(as('workflows'))).toEqual([200, [], []])
  expect(await shownTo(as('elsewhere'))).toEqual([403, undefined, []])
})
