/** Schedules on both generations of the engine's scheduler. Nothing in its API says which one a schedule has. */
import { expect } from 'vitest'
import { aSchedule, describeSchedules, scheduleCalls } from '../conformance/schedules.ts'
import type { Api } from '../support/api.ts'
import { test, testWithOwnEngine } from '../support/fixtures.ts'

const SECOND_GENERATION = {
  'history.enableChasm': true,
  'history.enableCHASMSchedulerCreation': true,
  'history.enableCHASMSchedulerRouting': true,
  'history.chasmSchedulerCreationRolloutPercent': 100,
}

const firstGeneration = test.extend('api', { scope: 'file' }, ({ serve, worker: _ }) => serve())
const secondGeneration = testWithOwnEngine({ dynamicConfig: SECOND_GENERATION }).extend(
  'api',
  { scope: 'file' },
  ({ serve, worker: _ }) => serve(),
)

describeSchedules('first generation', firstGeneration, 100)
describeSchedules('second generation', secondGeneration, 100)
describeSchedules(
  'over HTTP',
  test.extend('api', { scope: 'file' }, ({ serve, engine, worker: _ }) =>
    serve({ ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: engine.httpUrl ?? '' }),
  ),
  2,
)

const replaceAtTwoReplicas = async ({ api, serve }: { api: Api; serve(): Api }) => {
  const { id, put, get } = scheduleCalls(api)
  const writers = [put, scheduleCalls(serve(), id).put]
  await put()
  for (let round = 0; round < 10; round++) {
    const headers = { 'If-Match': `"${(await get()).body.version}"` }

    const answers = await Promise.all(writers.map((write, at) => write(aSchedule({ note: `${round}.${at}` }), headers)))

    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 412])
    expect((await get()).body.note).toBe(`${round}.${statuses.indexOf(200)}`)
  }
}

firstGeneration('of two writers at two replicas exactly one replaces a version', replaceAtTwoReplicas)
secondGeneration('of two writers at two replicas exactly one does, in the second generation too', replaceAtTwoReplicas)

// Their versions are counts, in another order of bytes.
const firstVersion = async (api: Api) => [...Buffer.from((await scheduleCalls(api).put()).body.version, 'base64url')]

firstGeneration('the schedules of an engine with its defaults are of the first generation', async ({ api }) => {
  expect(await firstVersion(api)).toEqual([0, 0, 0, 0, 0, 0, 0, 1])
})

secondGeneration('the schedules of the other engine are of the second generation', async ({ api }) => {
  expect(await firstVersion(api)).toEqual([1, 0, 0, 0, 0, 0, 0, 0])
})
