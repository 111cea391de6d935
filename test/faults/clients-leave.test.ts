/** Clients that do not wait for their answer: nobody goes on waiting in their place. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { openCalls, openPolls } from '../../dev/servers/engine-metrics.ts'
import { until } from '../../dev/servers/until.ts'
import { type Service, startService } from '../support/service.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

const CATALOG = 'left'
const CLIENTS = 50

/** Its metrics are asked: nobody else may use it. */
let engine: RunningEngine
let worker: TestWorker
let service: Service

beforeAll(async () => {
  engine = await startEngine()
  ;[worker, service] = await Promise.all([
    startWorker({ address: engine.address, taskQueue: CATALOG }),
    startService({ address: engine.address, catalog: CATALOG }),
  ])
})

afterAll(async () => {
  await service?.kill()
  await worker?.stop()
  await engine?.kill()
})

test('clients that leave: the polls made for 50 of them end within a second, and their runs go on', async () => {
  const leaving = new AbortController()
  const clients = Array.from({ length: CLIENTS }, (_, number) =>
    service
      .call(
        'POST',
        '/workflow/run',
        { workflowName: 'neverEnds', input: null, workflowId: `run-${number}`, timeout: '60s' },
        {},
        leaving.signal,
      )
      .catch((error: Error) => error.name),
  )
  const stays = service.call('POST', '/workflow/run', {
    workflowName: 'waitForSignal',
    input: null,
    workflowId: 'stays',
    timeout: '60s',
  })
  await until('each is waited for', async () => (await openPolls(engine.metricsUrl)) === CLIENTS + 1, {
    timeoutMs: 20_000,
  })

  leaving.abort()
  const leftAt = performance.now()
  await until('one poll is left', async () => (await openPolls(engine.metricsUrl)) === 1)
  const ms = performance.now() - leftAt

  expect(await Promise.all(clients)).toEqual(clients.map(() => 'AbortError'))
  expect(ms).toBeLessThan(1000)
  const statuses = await Promise.all(clients.map((_, number) => service.call('GET', `/workflow/run-${number}/status`)))
  expect(new Set(statuses.map(({ body }) => body.status))).toEqual(new Set(['running']))
  await service.call('POST', '/workflow/stays/signal/finish')
  expect((await stays).status).toBe(200)
})

test('clients that leave: the wait for an update-with-start ends within a second, and what it began goes on', async () => {
  const leaving = new AbortController()
  const body = { workflowName: 'messages', input: null, workflowId: 'begun', payload: 3000 }
  const client = service
    .call('POST', '/workflow/update-with-start/wait', body, {}, leaving.signal)
    .catch((error: Error) => error.name)
  const isOpen = async () => (await openCalls(engine.metricsUrl, 'ExecuteMultiOperation')) === 1
  await until('it is with the engine', isOpen)

  leaving.abort()
  const leftAt = performance.now()
  await until('it is no more', async () => !(await isOpen()))
  const ms = performance.now() - leftAt

  expect(await client).toBe('AbortError')
  expect(ms).toBeLessThan(1000)
  await until('the update is done', async () =>
    (await service.call('GET', '/workflow/begun/trace-log')).text.includes('"waited"'),
  )
})

test('clients that leave: are no errors in the log', () => {
  const left = service.events.filter(({ status }) => status === 499)

  expect(left.length).toBe(CLIENTS + 1)
  expect(service.events.filter(({ level }) => level !== 'info')).toEqual([])
})
