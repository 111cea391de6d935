/** Clients that disconnect before their response: the service stops waiting for them. */
import { expect } from 'vitest'
import { openCalls, openPolls } from '../../dev/servers/engine-metrics.ts'
import { until } from '../../dev/servers/until.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'

const CLIENTS = 50

// Its metrics count the calls of all its clients.
const test = testWithOwnEngine()

test('clients that disconnect: the polls for 50 of them end within a second, and their runs keep running', async ({
  engine,
  serviceProcess: service,
}) => {
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
  const stays = service.run('waitForSignal', null, { workflowId: 'stays', timeout: '60s' })
  await until('each is waited for', async () => (await openPolls(engine.metricsUrl)) === CLIENTS + 1)

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

test('clients that disconnect: the wait for an update-with-start ends within a second, and its run and update keep running', async ({
  engine,
  serviceProcess: service,
}) => {
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

test('clients that disconnect: are not errors in the log', ({ serviceProcess: service }) => {
  const left = service.events.filter(({ status }) => status === 499)

  expect(left.length).toBe(CLIENTS + 1)
  expect(service.events.filter(({ level }) => level !== 'info')).toEqual([])
})
