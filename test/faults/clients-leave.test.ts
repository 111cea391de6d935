/** Clients that disconnect before their response: the service stops waiting for them. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { POLL } from '../support/call-log.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { NO_RESPONSE } from '../support/service.ts'

const CLIENTS = 50
const STARTS_AT_ONCE = 10
const OF_THIS_FILE = crypto.randomUUID()

// The engine itself ends a call after 20 s.
const ENDED_BY_CLIENT = { timeoutMs: 15_000 }

/** Lines in the log before the first client. */
let linesBefore = 0

/** Clients that have left so far. */
let leavers = 0

const test = baseTest.extend('serviceProcess', { scope: 'file' }, async ({ startService, faultProxy, worker: _ }) => {
  const service = await startService({ address: faultProxy.address })
  await startFirstRun(service, 'nothing')
  linesBefore = service.events.length
  return service
})

test('clients that disconnect: the polls for 50 of them end, and their runs keep running (threat 55) (failure 41)', async ({
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  const leaving = new AbortController()
  const stays = service.run('waitForSignal', null, { workflowId: idOf('stays'), timeout: '10m' })
  const clients: Promise<unknown>[] = []
  for (let number = 0; number < CLIENTS; number++) {
    const body = { workflowName: 'neverEnds', input: null, workflowId: idOf(number), timeout: '10m' }
    clients.push(service.post('run', body, {}, leaving.signal).catch((error: Error) => error.name))
    // All at once would take a slow engine longer than a request may take.
    if (clients.length % STARTS_AT_ONCE === 0)
      await until('each is waited for', () => calls.open(POLL) === clients.length + 1)
  }

  leaving.abort()
  leavers += CLIENTS
  await until('one poll is left', () => calls.open(POLL) === 1, ENDED_BY_CLIENT)

  expect(await Promise.all(clients)).toEqual(clients.map(() => 'AbortError'))
  const statuses = new Set<string>()
  for (const number of clients.keys()) statuses.add((await service.get(`${idOf(number)}/status`)).body.status)
  expect(statuses).toEqual(new Set(['running']))
  await service.post(`${idOf('stays')}/signal/finish`)
  expect((await stays).status).toBe(200)
})

test('clients that disconnect: the polls for runs that exist already end', async ({
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  const ids = [idOf('json'), idOf('events')]
  for (const workflowId of ids) await service.start('neverEnds', null, { workflowId })
  const leaving = new AbortController()
  const clients = ids.map((id, number) => {
    const headers = { Accept: number === 0 ? 'application/json' : 'text/event-stream' }
    const path = `/workflow/${id}/result?wait=60s`
    return service.call('GET', path, undefined, headers, leaving.signal).catch(() => 'left')
  })
  await until('both wait', () => calls.open(POLL) === 2)

  leaving.abort()
  leavers += clients.length
  await until('no poll is left', () => calls.open(POLL) === 0, ENDED_BY_CLIENT)

  expect(await Promise.all(clients)).toEqual(['left', 'left'])
  for (const id of ids) await service.post(`${id}/terminate`)
})

test('clients that disconnect: the polls for the events of a run end (threat 55)', async ({
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  const path = `/workflow/${idOf('followed')}`
  await service.start('neverEnds', null, { workflowId: idOf('followed') })
  // Otherwise its events would end the wait for more.
  const { body } = await until('its first workflow task is completed', async () => {
    const answer = await service.call('GET', `${path}/history`)
    return answer.body.events.length >= 4 && answer
  })
  const leaving = new AbortController()
  const get = (rest: string) =>
    service.call('GET', `${path}/history${rest}`, undefined, {}, leaving.signal).catch(() => 'left')
  const clients = [get('/stream'), get(`?wait=60s&pageToken=${body.nextPageToken}`)]
  await until('both wait', () => calls.open(POLL) === 2)

  leaving.abort()
  leavers += clients.length
  await until('no poll is left', () => calls.open(POLL) === 0, ENDED_BY_CLIENT)

  expect(await Promise.all(clients)).toEqual(['left', 'left'])
  await service.call('POST', `${path}/terminate`)
})

test('clients that disconnect: the wait for an update-with-start ends, and its run and update keep running', async ({
  client: { workflow },
  faultProxy: { calls },
  serviceProcess: service,
}) => {
  /** Null if the update was done before its client left, on a slow machine. */
  async function leaveDuring(updateMs: number) {
    const workflowId = idOf(`updated-for-${updateMs}`)
    const leaving = new AbortController()
    const body = { workflowName: 'messages', input: null, workflowId, payload: updateMs }
    const leaver = service.post('update-with-start/wait', body, {}, leaving.signal).catch((error: Error) => error.name)
    const has = async (attributes: 'Accepted' | 'Completed') => {
      const { events } = await workflow.getHandle(workflowId).fetchHistory()
      return events?.some((event) => event[`workflowExecutionUpdate${attributes}EventAttributes`]) ?? false
    }
    await until('the update has begun', () => has('Accepted'))
    const isOpen = () => calls.open('ExecuteMultiOperation', workflowId) === 1
    if (!isOpen()) return null

    leaving.abort()
    leavers++
    await until('it is no more', () => !isOpen(), ENDED_BY_CLIENT)
    if (await has('Completed')) return null
    await until('the update is done', () => has('Completed'))
    return { error: await leaver, workflowId }
  }

  const left = (await leaveDuring(3000)) ?? (await leaveDuring(20_000)) ?? (await leaveDuring(60_000))

  expect(left?.error).toBe('AbortError')
  expect((await service.get(`${left?.workflowId}/status`)).body.status).toBe('running')
})

test('clients that disconnect: are not errors in the log (failure 41)', async ({ serviceProcess: service }) => {
  const left = () => service.events.filter(({ message, status }) => message === 'request' && status === 499).length

  await until('each is logged', () => left() >= leavers)
  expect(leavers).toBeGreaterThanOrEqual(CLIENTS + 3)
  expect(left()).toBe(leavers)
  const lines = service.events.slice(linesBefore)
  expect(lines.filter(({ level, message }) => level !== 'info' && message !== NO_RESPONSE)).toEqual([])
})

function idOf(run: number | string): string {
  return `${OF_THIS_FILE}-${run}`
}
