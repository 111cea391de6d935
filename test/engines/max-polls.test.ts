/** `SERVICE_MAX_POLLS` limits all long polls together, whatever they wait for, and delays what is beyond it. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'

const MAX_POLLS = 2

const test = sharedTest.extend('serviceEnv', { scope: 'file' }, () => ({
  SERVICE_METRICS_ON: 'true',
  SERVICE_MAX_POLLS: String(MAX_POLLS),
  SERVICE_CATALOG_TTL: '10m',
}))

test('waits for ends, events, updates and activities share the polls; beyond them they are served by reads, and none is rejected', async ({
  service,
}) => {
  const { workflowId } = (await service.start('messages')).body
  const path = `${workflowId}/history`
  const { nextPageToken } = (await service.get(`${path}?pageSize=1000`)).body
  expect(nextPageToken).toEqual(expect.any(String))
  const sent = await service.post(`${workflowId}/update/waitFor`, { payload: 'go' }, { Prefer: 'respond-async' })
  expect(sent.status).toBe(202)
  const last = await lastToken()
  const { activityId } = (await service.call('POST', '/activity/start', { activityName: 'outside', input: null })).body

  /** The token of a page after which there is no event yet. */
  async function lastToken(): Promise<string> {
    let token = nextPageToken
    for (let isEmpty = false; !isEmpty; ) {
      const { body } = await service.get(`${path}?pageToken=${encodeURIComponent(token)}`)
      isEmpty = body.events.length === 0
      token = body.nextPageToken
    }
    return token
  }

  const waiting = [
    ...Array.from({ length: 4 }, () => service.get(`${path}?wait=60s&pageToken=${encodeURIComponent(last)}`)),
    ...Array.from({ length: 4 }, () => service.call('GET', `/workflow/${path}/stream`)),
    ...Array.from({ length: 4 }, () => service.call('GET', `${sent.headers.get('Location')}?wait=60s`)),
    ...Array.from({ length: 4 }, () => service.get(`${workflowId}/result?wait=60s`)),
    ...Array.from({ length: 4 }, () => service.call('GET', `/activity/${activityId}/result?wait=60s`)),
  ]
  let mostPolls = 0
  const open = async () => {
    const samples = parseMetrics((await service.call('GET', '/metrics')).text)
    const polls = sumOf(samples, 'portico_open_polls')
    mostPolls = Math.max(mostPolls, polls)
    return {
      active: sumOf(samples, 'http_server_active_requests', { http_request_method: 'GET' }),
      inFlight: sumOf(samples, 'portico_requests_in_flight'),
      polls,
    }
  }
  // One of the active requests is the scrape itself.
  await until('all of them wait', async () => {
    const { active, inFlight, polls } = await open()
    return active === waiting.length + 1 && inFlight === 0 && polls === MAX_POLLS
  })
  // One that only waits takes no place of those that work.
  expect((await service.get(`${workflowId}/status`)).status).toBe(200)

  await service.post(`${workflowId}/signal/add`, { payload: 'go' })
  await service.post(`${workflowId}/signal/finish`)
  await service.call('POST', `/activity/${activityId}/complete`)
  const ended = Promise.all(waiting)
  await until('all of them are answered', async () => (await open()).active === 1)

  expect((await ended).map(({ status }) => status)).toEqual(waiting.map(() => 200))
  expect(mostPolls).toBe(MAX_POLLS)
  await until('no poll is open', async () => (await open()).polls === 0)
})

test('requests that wait for events take no place', async ({ serve, service: _ }) => {
  const { start, get, call, post } = serve({
    SERVICE_METRICS_ON: 'true',
    SERVICE_MAX_INFLIGHT: '2',
    SERVICE_CATALOG_TTL: '10m',
  })
  const { workflowId } = (await start('messages')).body
  const client = new AbortController()
  const position = await until('nothing more happens', async () => {
    const { body } = await get(`${workflowId}/history?pageSize=1000`)
    // Before that, the worker has yet to take the first workflow task.
    if (!body.events.some(({ eventType }: { eventType: string }) => eventType === 'WorkflowTaskCompleted')) return false
    const next = await get(`${workflowId}/history?pageToken=${encodeURIComponent(body.nextPageToken)}`)
    return next.body.events.length === 0 && next.body.nextPageToken
  })
  const wait = () =>
    call(
      'GET',
      `/workflow/${workflowId}/history?wait=60s&pageToken=${encodeURIComponent(position)}`,
      undefined,
      {},
      client.signal,
    )
      .then(({ status }) => status)
      .catch((error: Error) => error.name)
  const waiting: Promise<string | number>[] = []
  for (let count = 1; count <= 4; count++) {
    waiting.push(wait())
    await until('it waits', async () => {
      const samples = parseMetrics((await call('GET', '/metrics')).text)
      return sumOf(samples, 'portico_requests_in_flight') === 0 && sumOf(samples, 'portico_open_polls') === count
    })
  }

  const { status } = await post(`${workflowId}/signal/add`, { payload: 1 })

  expect(status).toBe(200)
  expect(await Promise.all(waiting)).toEqual([200, 200, 200, 200])
})
