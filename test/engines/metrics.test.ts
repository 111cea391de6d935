/** Each metric moves by what happened, on a real engine. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type InProcessService, test as sharedTest } from '../support/fixtures.ts'
import { parseMetrics, type Sample, sumOf } from '../support/prometheus.ts'

const REQUESTS = 'http_server_request_duration_seconds_count'
const CALLS = 'rpc_client_call_duration_seconds_count'

const test = sharedTest.extend('serviceEnv', { scope: 'file' }, () => ({
  SERVICE_METRICS_ON: 'true',
  SERVICE_CATALOG_TTL: '10m',
}))

test('requests are counted by method, route pattern and status, never by path', async ({ service }) => {
  const { workflowId } = (await service.run('echo', 1)).body
  const before = await scrape(service)

  await service.get(`${workflowId}/status`)
  await service.get(`${workflowId}/status`)
  await service.get('unknown-id/status')
  await service.call('GET', `/${workflowId}`)

  const after = await scrape(service)
  const moved = (route: string, status: string) =>
    delta(before, after, REQUESTS, { http_request_method: 'GET', http_route: route, http_response_status_code: status })
  expect([moved('/workflow/:id/status', '200'), moved('/workflow/:id/status', '404'), moved('', '404')]).toEqual([
    2, 1, 1,
  ])
  expect(JSON.stringify(after)).not.toContain(workflowId)
})

test('calls of the engine are counted by method and gRPC code', async ({ service }) => {
  const { workflowId } = (await service.run('echo', 1)).body
  const before = await scrape(service)

  await service.get(`${workflowId}/status`)
  await service.get('unknown-id/status')

  const after = await scrape(service)
  const moved = (code: string) =>
    delta(before, after, CALLS, { rpc_method: 'DescribeWorkflowExecution', rpc_response_status_code: code })
  expect([moved('OK'), moved('NOT_FOUND')]).toEqual([1, 1])
})

test('a request that waits for a run is active, a wait and a poll but not in flight, until its client disconnects (failure 8)', async ({
  service,
}) => {
  const client = new AbortController()
  const open = async () => {
    const samples = await scrape(service)
    return [
      sumOf(samples, 'http_server_active_requests', { http_request_method: 'POST' }),
      sumOf(samples, 'portico_requests_in_flight'),
      sumOf(samples, 'portico_open_waits'),
      sumOf(samples, 'portico_open_polls'),
    ].join()
  }
  const before = await scrape(service)
  const running = service
    .post('run', { workflowName: 'neverEnds', input: null }, {}, client.signal)
    .catch((error: Error) => error)

  await until('the request waits', async () => (await open()) === '1,0,1,1')
  client.abort()
  await running
  await until('nothing is open', async () => (await open()) === '0,0,0,0')

  const after = await scrape(service)
  const aborted = { http_route: '/workflow/run', http_response_status_code: '499' }
  expect(delta(before, after, REQUESTS, aborted)).toBe(1)
  expect(delta(before, after, 'portico_polls_total', { rpc_response_status_code: 'CANCELLED' })).toBe(1)
  expect(delta(before, after, CALLS, { rpc_method: 'GetWorkflowExecutionHistory' })).toBe(0)
})

test('repeats of a keyed run that has ended leave no request in flight, even more of them than the limit', async ({
  serve,
  service,
}) => {
  const { post, call } = serve({ SERVICE_METRICS_ON: 'true', SERVICE_MAX_INFLIGHT: '4', SERVICE_CATALOG_TTL: '10m' })
  const key = crypto.randomUUID()
  const body = { workflowName: 'echo', input: 1 }
  await until('the run has ended', async () => {
    const { status } = await service.post('run', body, { 'Idempotency-Key': key })
    return status === 200
  })

  const statuses: number[] = []
  for (let repeats = 0; repeats < 10; repeats++) {
    const { status } = await post('run', body, { 'Idempotency-Key': key, Prefer: 'respond-async' })
    statuses.push(status)
  }

  expect(statuses).toEqual(Array(10).fill(200))
  expect(sumOf(await scrape({ call }), 'portico_requests_in_flight')).toBe(0)
})

test('reads of a cache are hits and misses', async ({ service }) => {
  const signal = async (path: string) => {
    const before = await scrape(service)
    await service.call('POST', `${path}/signal/other`, { payload: 1 })
    const after = await scrape(service)
    const read = (result: string) => delta(before, after, 'portico_cache_reads_total', { cache: 'run', result })
    const described = delta(before, after, CALLS, {
      rpc_method: 'DescribeWorkflowExecution',
      rpc_response_status_code: 'OK',
    })
    return { reads: { misses: read('miss'), hits: read('hit') }, isDescribed: described === 1 }
  }
  // If the engine takes too long, the signal is sent without the facts of its run.
  const { path, first } = await until('a run is described in time', async () => {
    const { workflowId, runId } = (await service.start('waitForSignal')).body
    const path = `/workflow/${workflowId}/runs/${runId}`
    const first = await signal(path)
    return first.isDescribed && { path, first }
  })

  const second = await signal(path)

  expect([first.reads, second.reads]).toEqual([
    { misses: 1, hits: 0 },
    { misses: 0, hits: 1 },
  ])
})

test('the CPU time, the memory and the start of the process are plausible', async ({ service }) => {
  const samples = await scrape(service)

  expect(sumOf(samples, 'process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(sumOf(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1 << 20)
  expect(Math.abs(sumOf(samples, 'process_start_time_seconds') * 1000 - performance.timeOrigin)).toBeLessThan(1)
})

async function scrape({ call }: Pick<InProcessService, 'call'>): Promise<Sample[]> {
  const { status, headers, text } = await call('GET', '/metrics')
  expect([status, headers.get('Content-Type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return parseMetrics(text)
}

function delta(before: Sample[], after: Sample[], name: string, labels: Record<string, string>): number {
  return sumOf(after, name, labels) - sumOf(before, name, labels)
}
