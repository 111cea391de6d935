/** What is limited: threat 29 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { InProcessService } from '../../support/fixtures.ts'
import { parseMetrics } from '../../support/prometheus.ts'
import { testWithCallers, tokenOf, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('ci', { can: ['*'], ids: ['ci:*'] }),
  tokenRule('slow', { can: ['*'], ids: ['slow:*'], limits: { perSecond: 0.001, burst: 2 } }),
  tokenRule('narrow', { can: ['*'], ids: ['slow:*'], limits: { inFlight: 1 } }),
  tokenRule('waiter', { can: ['*'], ids: ['slow:*'], limits: { waits: 1 } }),
  { name: 'users', who: { jwt: 'main' }, can: ['start', 'read'], ids: ['u:{sub}:*'] },
]

const test = testWithCallers(RULES)

test('a request over the limit of its rule starts nothing, and others are served (threat 29)', async ({
  startCallers,
  client,
}) => {
  const { as, operator, withClaims } = await startCallers()
  const ids = Array.from({ length: 5 }, () => `slow:${crypto.randomUUID()}`)
  const start = async (workflowId: string) => (await as('slow').start('nothing', null, { workflowId })).status

  const statuses: number[] = []
  for (const id of ids) statuses.push(await start(id))
  const signaled = await as('slow').post('signal-with-start/add', {
    ...{ workflowName: 'messages', input: null, workflowId: `slow:${crypto.randomUUID()}` },
  })
  const others = [
    await as('ci').start('nothing'),
    await operator.start('nothing'),
    await (await withClaims({ sub: 'ada' })).start('nothing'),
  ]

  expect(statuses).toEqual([200, 200, 429, 429, 429])
  expect([signaled.status, signaled.body.error]).toEqual([429, 'TooManyRequestsError'])
  expect(Number(signaled.headers.get('Retry-After'))).toBeGreaterThan(0)
  const started = await Promise.allSettled(ids.map((id) => client.workflow.getHandle(id).describe()))
  expect(started.map(({ status }) => status)).toEqual([...Array(2).fill('fulfilled'), ...Array(3).fill('rejected')])
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
})

test('a wait over the limit is a 429, and the place of a wait that has ended is free (threat 29)', async ({
  startCallers,
}) => {
  const { as, operator } = await startCallers({ SERVICE_METRICS_ON: 'true' })
  const workflowId = `slow:${crypto.randomUUID()}`
  await operator.start('waitForSignal', null, { workflowId })
  const read = (wait: string) => as('waiter').get(`${workflowId}/result?wait=${wait}`)
  const first = read('60s')
  const waits = async () =>
    parseMetrics((await operator.call('GET', '/metrics')).text).find(({ name }) => name === 'portico_open_waits')?.value
  await until('it waits', async () => (await waits()) === 1)

  const second = await read('60s')
  const status = await as('waiter').get(`${workflowId}/status`)
  const [own, foreign] = [operator.get(`${workflowId}/result?wait=60s`), as('ci').get(`${workflowId}/result?wait=60s`)]
  await operator.post(`${workflowId}/signal/finish`)

  expect([second.status, status.status]).toEqual([429, 200])
  expect([(await first).status, (await own).status, (await foreign).status]).toEqual([200, 200, 403])
  expect((await read('1s')).status).toBe(200)
})

test('a request over inFlight is a 429 and starts nothing, and the place of one that has ended is free (threat 29)', async ({
  startCallers,
  client,
}) => {
  const { service, as, operator } = await startCallers()
  const start = (workflowId: string) => as('narrow').start('nothing', null, { workflowId })
  const ids = Array.from({ length: 4 }, () => `slow:${crypto.randomUUID()}`)
  const [held = '', rejected = '', afterwards = '', afterLeaving = ''] = ids
  // From now on its credential is remembered, so that its requests are counted in their order.
  await as('narrow').get(`${held}/status`)

  const first = openStart(service, tokenOf('narrow'))
  const over = await start(rejected)
  const others = [await as('ci').start('nothing'), await operator.start('nothing')]
  const ended = await first.send({ workflowName: 'nothing', input: null, workflowId: held })
  const next = await start(afterwards)
  const leaving = openStart(service, tokenOf('narrow'))
  const again = await start(rejected)
  await leaving.leave()
  const last = await until('the place is free', async () => {
    const answer = await start(afterLeaving)
    return answer.status === 429 ? null : answer
  })

  expect([over.status, over.body.error, over.headers.get('Retry-After')]).toEqual([429, 'TooManyRequestsError', '1'])
  expect([ended, next, again, last, ...others].map(({ status }) => status)).toEqual([200, 200, 429, 200, 200, 200])
  const started = await Promise.allSettled(ids.map((id) => client.workflow.getHandle(id).describe()))
  expect(started.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
})

test('waits of one caller leave long polls for others (threat 29)', async ({ startCallers }) => {
  const { as, operator, withClaims } = await startCallers({ SERVICE_METRICS_ON: 'true', SERVICE_MAX_POLLS: '4' })
  const ada = await withClaims({ sub: 'ada' })
  const gauge = async (name: string) =>
    parseMetrics((await operator.call('GET', '/metrics')).text).find((sample) => sample.name === name)?.value
  const ids = Array.from({ length: 6 }, () => `u:ada:${crypto.randomUUID()}`)
  const foreign = `ci:${crypto.randomUUID()}`
  for (const workflowId of [...ids, foreign]) await operator.start('waitForSignal', null, { workflowId })

  const waiting = ids.map((id) => ada.get(`${encodeURIComponent(id)}/result?wait=60s`))
  await until('all of them wait', async () => (await gauge('portico_open_waits')) === ids.length)
  const own = await gauge('portico_open_polls')
  const other = as('ci').get(`${foreign}/result?wait=60s`)
  await until('the other caller waits', async () => (await gauge('portico_open_waits')) === ids.length + 1)
  const all = await gauge('portico_open_polls')
  for (const workflowId of [...ids, foreign]) await operator.post(`${encodeURIComponent(workflowId)}/signal/finish`)

  expect([own, all]).toEqual([2, 3])
  expect((await Promise.all([...waiting, other])).map(({ status }) => status)).toEqual(Array(7).fill(200))
})

/** A start whose body has not been sent yet: it is in flight. */
function openStart({ fetch }: InProcessService, token: string) {
  const { readable, writable } = new TransformStream()
  const leaving = new AbortController()
  const response = fetch(
    new Request('http://portico.test/workflow/start', {
      method: 'POST',
      headers: { Authorization: `Basic ${token}`, 'Content-Type': 'application/json' },
      body: readable,
      duplex: 'half',
      signal: leaving.signal,
    } as RequestInit),
  )
  return {
    send(body: object): Promise<Response> {
      const writer = writable.getWriter()
      // Neither ends if the request has been rejected, because its body is not read.
      void Promise.allSettled([writer.write(new TextEncoder().encode(JSON.stringify(body))), writer.close()])
      return response
    },
    async leave(): Promise<void> {
      leaving.abort()
      await writable.abort(new Error('the client has left'))
      await Promise.allSettled([response])
    },
  }
}
