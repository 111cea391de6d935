/** Clients that disconnect before their response: the service stops waiting for them. */
import { expect } from 'vitest'
import { openCalls, openPolls } from '../../dev/servers/engine-metrics.ts'
import { until } from '../../dev/servers/until.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'

const CLIENTS = 50

// The engine itself ends a call after 20 s.
const ENDED_BY_CLIENT = { timeoutMs: 15_000 }

// Its metrics count the calls of all its clients.
const test = testWithOwnEngine()

test('clients that disconnect: the polls for 50 of them end, and their runs keep running', async ({
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
  await until('one poll is left', async () => (await openPolls(engine.metricsUrl)) === 1, ENDED_BY_CLIENT)

  expect(await Promise.all(clients)).toEqual(clients.map(() => 'AbortError'))
  const statuses = await Promise.all(clients.map((_, number) => service.call('GET', `/workflow/run-${number}/status`)))
  expect(new Set(statuses.map(({ body }) => body.status))).toEqual(new Set(['running']))
  await service.call('POST', '/workflow/stays/signal/finish')
  expect((await stays).status).toBe(200)
})

test('clients that disconnect: the wait for an update-with-start ends, and its run and update keep running', async ({
  client: { workflow },
  engine,
  serviceProcess: service,
}) => {
  const leaving = new AbortController()
  const body = { workflowName: 'messages', input: null, workflowId: 'begun', payload: 600_000 }
  const leaver = service
    .call('POST', '/workflow/update-with-start/wait', body, {}, leaving.signal)
    .catch((error: Error) => error.name)
  const isOpen = async () => (await openCalls(engine.metricsUrl, 'ExecuteMultiOperation')) === 1
  const eventsOf = async (attributes: 'Accepted' | 'Completed') =>
    (await workflow.getHandle('begun').fetchHistory()).events?.filter(
      (event) => event[`workflowExecutionUpdate${attributes}EventAttributes`],
    )
  await until('the update has begun', async () => (await eventsOf('Accepted'))?.length === 1 && isOpen())

  leaving.abort()
  await until('it is no more', async () => !(await isOpen()), ENDED_BY_CLIENT)

  expect(await leaver).toBe('AbortError')
  expect(await eventsOf('Completed')).toEqual([])
  expect((await service.call('GET', '/workflow/begun/status')).body.status).toBe('running')
})

test('clients that disconnect: are not errors in the log', async ({ serviceProcess: service }) => {
  const left = () => service.events.filter(({ status }) => status === 499).length

  await until('each is logged', () => left() >= CLIENTS + 1)
  expect(left()).toBe(CLIENTS + 1)
  expect(service.events.filter(({ level }) => level !== 'info')).toEqual([])
})
