/** Clients that disconnect before their response: the service stops waiting for them. */
import { expect } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { POLL } from '../support/call-log.ts'
import { test as baseTest } from '../support/fixtures.ts'

const CLIENTS = 50
const OF_THIS_FILE = crypto.randomUUID()

// The engine itself ends a call after 20 s.
const ENDED_BY_CLIENT = { timeoutMs: 15_000 }

const test = baseTest.extend('serviceProcess', { scope: 'file' }, ({ startService, faultProxy, worker: _ }) => {
  return startService({ address: faultProxy.address })
})

test('clients that disconnect: the polls for 50 of them end, and their runs keep running', async ({
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  const leaving = new AbortController()
  const clients = Array.from({ length: CLIENTS }, (_, number) =>
    service
      .call(
        'POST',
        '/workflow/run',
        { workflowName: 'neverEnds', input: null, workflowId: idOf(number), timeout: '60s' },
        {},
        leaving.signal,
      )
      .catch((error: Error) => error.name),
  )
  const stays = service.run('waitForSignal', null, { workflowId: idOf('stays'), timeout: '60s' })
  await until('each is waited for', () => calls.open(POLL) === CLIENTS + 1)

  leaving.abort()
  await until('one poll is left', () => calls.open(POLL) === 1, ENDED_BY_CLIENT)

  expect(await Promise.all(clients)).toEqual(clients.map(() => 'AbortError'))
  const statuses = await Promise.all(
    clients.map((_, number) => service.call('GET', `/workflow/${idOf(number)}/status`)),
  )
  expect(new Set(statuses.map(({ body }) => body.status))).toEqual(new Set(['running']))
  await service.call('POST', `/workflow/${idOf('stays')}/signal/finish`)
  expect((await stays).status).toBe(200)
})

test('clients that disconnect: the polls for the events of a run end', async ({
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  const path = `/workflow/${idOf('followed')}`
  await service.start('neverEnds', null, { workflowId: idOf('followed') })
  const { body } = await service.call('GET', `${path}/history`)
  const leaving = new AbortController()
  const get = (rest: string) =>
    service.call('GET', `${path}/history${rest}`, undefined, {}, leaving.signal).catch(() => 'left')
  const clients = [get('/stream'), get(`?wait=60s&pageToken=${body.nextPageToken}`)]
  await until('both wait', () => calls.open(POLL) === 2)

  leaving.abort()
  await until('no poll is left', () => calls.open(POLL) === 0, ENDED_BY_CLIENT)

  expect(await Promise.all(clients)).toEqual(['left', 'left'])
  await service.call('POST', `${path}/terminate`)
})

test('clients that disconnect: the wait for an update-with-start ends, and its run and update keep running', async ({
  client: { workflow },
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  const leaving = new AbortController()
  const body = { workflowName: 'messages', input: null, workflowId: idOf('begun'), payload: 600_000 }
  const leaver = service
    .call('POST', '/workflow/update-with-start/wait', body, {}, leaving.signal)
    .catch((error: Error) => error.name)
  const isOpen = () => calls.open('ExecuteMultiOperation') === 1
  const eventsOf = async (attributes: 'Accepted' | 'Completed') =>
    (await workflow.getHandle(idOf('begun')).fetchHistory()).events?.filter(
      (event) => event[`workflowExecutionUpdate${attributes}EventAttributes`],
    )
  await until('the update has begun', async () => (await eventsOf('Accepted'))?.length === 1 && isOpen())

  leaving.abort()
  await until('it is no more', () => !isOpen(), ENDED_BY_CLIENT)

  expect(await leaver).toBe('AbortError')
  expect(await eventsOf('Completed')).toEqual([])
  expect((await service.call('GET', `/workflow/${idOf('begun')}/status`)).body.status).toBe('running')
})

test('clients that disconnect: are not errors in the log', async ({ serviceProcess: service }) => {
  const left = () => service.events.filter(({ status }) => status === 499).length

  await until('each is logged', () => left() >= CLIENTS + 3)
  expect(left()).toBe(CLIENTS + 3)
  expect(service.events.filter(({ level }) => level !== 'info')).toEqual([])
})

function idOf(run: number | string): string {
  return `${OF_THIS_FILE}-${run}`
}
