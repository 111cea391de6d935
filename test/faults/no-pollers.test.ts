/** Queries of runs whose worker has gone, over both transports. */

import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startFirstRun } from '../support/first-run.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import type { Service } from '../support/service.ts'

// How long after its last poll a worker counts as there; 20 s by default.
const test = testWithOwnEngine({ dynamicConfig: { 'matching.queryPollerUnavailableWindow': '1s' } })

let services: Service[]

test.beforeAll(async ({ engine, startWorker, startService }) => {
  const worker = await startWorker()
  const overHttp = { ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: engine.httpUrl }
  services = await Promise.all([startService(), startService({ env: overHttp })])
  for (const service of services) {
    await startFirstRun(service, 'nothing')
    await service.run('echo', 1, { workflowId: `closed-${portOf(service)}` })
    const open = `open-${portOf(service)}`
    await service.start('neverEnds', null, { workflowId: open })
    await until('the worker has had it', async () => (await service.get(`${open}/status`)).body.historyLength >= 4)
  }
  await worker.stop()
})

/** Of each service its own runs: only one query of a run waits at a time. */
function portOf({ url }: Service): string {
  return new URL(url).port
}

test('no pollers: a query of an open and of a closed run is a 504 that says so, before its own time is over (failure 26)', async () => {
  const asked = services.flatMap((service) =>
    ['open', 'closed'].map((id) => ({ service, id: `${id}-${portOf(service)}` })),
  )

  const answers = await Promise.all(asked.map(({ service, id }) => service.post(`${id}/query/state`)))

  expect(answers.map(({ status, body }) => [status, body.error, body.source, body.message])).toEqual(
    asked.map(({ id }) => [
      504,
      'DeadlineExceededError',
      'engine',
      `No worker responded for workflow ${id}: no worker has polled its task queue recently`,
    ]),
  )
  expect(services.flatMap(({ events }) => events).filter(({ level }) => level === 'error')).toEqual([])
})

test('no pollers: starts and signals succeed (failure 26)', async () => {
  for (const service of services) {
    const started = await service.start('neverEnds')
    const signaled = await service.post(`${started.body.workflowId}/signal/finish`)

    expect([started.status, signaled.status]).toEqual([200, 200])
  }
})
