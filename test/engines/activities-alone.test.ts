/** Standalone activities over each transport. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { activityCalls, describeActivities } from '../conformance/activities-alone.ts'
import { test } from '../support/fixtures.ts'

describeActivities(
  'over gRPC',
  test.extend('api', { scope: 'file' }, ({ service }) => service),
)
describeActivities(
  'over HTTP',
  test
    .extend('serviceEnv', { scope: 'file' }, ({ engine }) => ({
      ENGINE_TRANSPORT: 'http',
      ENGINE_HTTP_URL: engine.httpUrl ?? '',
    }))
    .extend('api', { scope: 'file' }, ({ service }) => service),
)

test('a catalog that describes activities admits these alone, with input that matches', async ({
  serve,
  startWorker,
}) => {
  const taskQueue = `described-${crypto.randomUUID()}`
  const input = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }
  const output = { type: 'object', properties: { n: { maximum: 5 } } }
  const activities = { echoBack: { input, output } }
  await startWorker({ taskQueue, catalog: defineCatalog({ nothing: {} }, { activities }) })
  const api = serve({ SERVICE_CATALOG_ID: taskQueue, SERVICE_CHECK_OUTPUTS: 'true' })
  await until('the catalog is published', async () => (await api.get('catalog')).status === 200)
  const run = (activityName: string, value: unknown) => activityCalls(api).run(activityName, { input: value })

  const [done, invalid, unknown] = [await run('echoBack', { n: 1 }), await run('echoBack', {}), await run('outside', 1)]

  expect([done.status, done.body.output]).toEqual([200, { n: 1 }])
  expect([invalid.status, invalid.body.error, invalid.body.issues[0].path]).toEqual([
    400,
    'ValidationError',
    '/input/n',
  ])
  expect([unknown.status, unknown.body.error, unknown.body.available]).toEqual([
    424,
    'UnsupportedActivityError',
    ['echoBack'],
  ])

  expect(done.headers.get('Portico-Output-Warning')).toBeNull()
  // A busy machine may not read the schema in time, and then there is no warning.
  const { id } = await until('the output is checked', async () => {
    const { id, run } = activityCalls(api)
    return (await run('echoBack', { input: { n: 6 } })).headers.has('Portico-Output-Warning') && { id }
  })
  const warning = async () => (await activityCalls(api, id).get('result')).headers.get('Portico-Output-Warning')
  await until('it is checked again', async () => (await warning()) === '/output/n must be at most 5')
})

test.for(['grpc', 'http'])(
  'each request makes few engine calls over %s',
  async (transport, { faultProxy, serve, worker: _ }) => {
    const env = { ENGINE_ADDRESS: faultProxy.address, ENGINE_HTTP_URL: faultProxy.httpUrl ?? '' }
    const api = serve({ ...env, ENGINE_TRANSPORT: transport, SERVICE_CATALOG_TTL: '10m' })
    const counted = async (act: () => Promise<unknown>) => faultProxy.calls.during(act)
    const [done, failed, open] = [activityCalls(api), activityCalls(api), activityCalls(api)]
    await activityCalls(api).run('echoBack')
    const look = { DescribeActivityExecution: 1 }
    const start = { StartActivityExecution: 1 }
    const poll = { PollActivityExecution: 1 }
    const key = { 'Idempotency-Key': open.id }

    expect(await counted(() => done.run('echoBack'))).toEqual({ ...start, ...poll })
    expect(await counted(() => failed.run('rejects'))).toEqual({ ...start, ...poll, ...look })
    expect(await counted(() => done.get('result'))).toEqual(look)
    expect(await counted(() => open.start('outside', {}, key))).toEqual(start)
    expect(await counted(() => open.start('outside', {}, key))).toEqual({ ...start, ...look })
    expect(await counted(() => open.get('status'))).toEqual(look)
    const shared = async () => {
      const waiting = [1, 2, 3].map(() => open.get('result?wait=60s'))
      await until('the poll is open', () => faultProxy.calls.open('PollActivityExecution', open.id) === 1)
      await open.stop()
      await open.post('heartbeat')
      await open.post('complete', { output: 1 })
      expect((await Promise.all(waiting)).map(({ body }) => body.output)).toEqual([1, 1, 1])
    }
    expect(await counted(shared)).toEqual({
      // Of the three waits, and of the others.
      DescribeActivityExecution: 6,
      ...poll,
      RequestCancelActivityExecution: 1,
      RecordActivityTaskHeartbeatById: 1,
      RespondActivityTaskCompletedById: 1,
    })
    const terminated = activityCalls(api)
    const terminate = async () => (await terminated.start('outside')) && terminated.post('terminate')
    expect(await counted(terminate)).toEqual({ ...start, ...look, TerminateActivityExecution: 1 })
    expect(await counted(() => api.call('GET', '/activity/runs'))).toEqual({ ListActivityExecutions: 1 })
  },
)
