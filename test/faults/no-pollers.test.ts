/** Queries of runs whose worker has gone, over both transports. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { until } from '../../dev/servers/until.ts'
import { type Service, startService } from '../support/service.ts'
import { startWorker } from '../support/worker.ts'

const CATALOG = 'gone'

let engine: RunningEngine
let services: Service[]

beforeAll(async () => {
  // How long after its last poll a worker counts as there; 20 s by default.
  engine = await startEngine({ dynamicConfig: { 'matching.queryPollerUnavailableWindow': '1s' } })
  const { address, httpUrl } = engine
  const worker = await startWorker({ address, taskQueue: CATALOG })
  const overHttp = { ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: httpUrl }
  services = await Promise.all([
    startService({ address, catalog: CATALOG }),
    startService({ address, catalog: CATALOG, env: overHttp }),
  ])
  for (const service of services) {
    await service.call('POST', '/workflow/run', {
      workflowName: 'echo',
      input: 1,
      workflowId: `closed-${portOf(service)}`,
    })
    const open = `open-${portOf(service)}`
    await service.call('POST', '/workflow/start', { workflowName: 'neverEnds', input: null, workflowId: open })
    await until(
      'the worker has had it',
      async () => (await service.call('GET', `/workflow/${open}/status`)).body.historyLength >= 4,
    )
  }
  await worker.stop()
})

afterAll(async () => {
  await Promise.all(services?.map((service) => service.kill()) ?? [])
  await engine?.kill()
})

/** Of each service its own runs: only one query of a run waits at a time. */
function portOf({ url }: Service): string {
  return new URL(url).port
}

test('no pollers: a query of an open and of a closed run is a 504 that says so, before its own time is over', {
  timeout: 80_000,
}, async () => {
  const asked = services.flatMap((service) =>
    ['open', 'closed'].map((id) => ({ service, id: `${id}-${portOf(service)}` })),
  )

  const answers = await Promise.all(asked.map(({ service, id }) => service.call('POST', `/workflow/${id}/query/state`)))

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
