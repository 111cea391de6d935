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
  await startWorker({ taskQueue, catalog: defineCatalog({ nothing: {} }, { activities: { echoBack: { input } } }) })
  const api = serve({ SERVICE_CATALOG_ID: taskQueue })
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
})
