/** More requests than the engine takes in a second. */

import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer, Api } from '../support/api.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'
import { promisedError } from '../support/promises.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { CATALOG_ENDPOINTS, callEach, type EndpointAnswer, runEndpoints, toStatusLines } from './endpoints.ts'

// One round follows another, so that a slow machine is not given more than it can serve.
const MIN_ROUNDS = 2
const MIN_REJECTED_ENDPOINTS = 11

interface Seen {
  /** Of requests that ask for something new. */
  answers: EndpointAnswer[]
  callsRejected: number
  /** Of `run`s that were started before and go on. */
  waited: Answer[]
}

const test = testWithOwnEngine({ dynamicConfig: { 'frontend.namespaceRPS': 10, 'frontend.namespaceBurstRatio': 1 } })
test.override('workerOptions', { catalog: testCatalog })
// The engine is to reject requests, not the service.
test.override('serviceEnv', { SERVICE_MAX_INFLIGHT: '1000000', SERVICE_METRICS_ON: 'true' })

let seen: Seen

test.beforeAll(async ({ service }) => {
  seen = await hurryEngine(service)
})

async function hurryEngine(api: Api): Promise<Seen> {
  await until('the catalog is published', async () => (await api.get('catalog')).status === 200)
  const target = (await api.start('messages')).body
  const run = (workflowName: string, input: unknown, workflowId: string) =>
    api.run(workflowName, input, { workflowId, timeout: '2m' })
  const waiting = [
    run('sleepFor', { ms: 1500 }, 'sleeps'),
    // Their ends have to be read as well: the last run of a chain for its input, a cancelled one for its reason.
    ...['chain-1', 'chain-2', 'chain-3'].map((id) => run('chain', { links: 2 }, id)),
    ...['stopped-1', 'stopped-2', 'stopped-3'].map((id) => run('cleansUp', { ms: 1000 }, id)),
  ]
  for (const id of ['stopped-1', 'stopped-2', 'stopped-3'])
    await until(`${id} is stopped`, async () => (await api.call('PATCH', `/workflow/${id}/stop`)).body.cancelRequested)

  const endpoints = [...runEndpoints(target), ...CATALOG_ENDPOINTS]
  const answers: EndpointAnswer[] = []
  for (let round = 1; round <= MIN_ROUNDS || rejectedEndpoints(answers).size < MIN_REJECTED_ENDPOINTS; round++) {
    // More than the engine takes in a second, and more each time: a slow machine spreads them over several seconds.
    const copies = Array.from({ length: round }, () => endpoints)
    answers.push(...(await callEach(api, copies.flat())))
  }
  const samples = parseMetrics((await api.call('GET', '/metrics')).text)
  const code = { rpc_response_status_code: 'RESOURCE_EXHAUSTED' }
  const callsRejected = sumOf(samples, 'rpc_client_call_duration_seconds_count', code)
  return { answers, callsRejected, waited: await Promise.all(waiting) }
}

function rejectedEndpoints(answers: readonly EndpointAnswer[]): Set<string> {
  return new Set(answers.filter(({ status }) => status === 429).map(({ endpoint }) => endpoint))
}

test('rate: new requests get Retry-After: 1 (failure 7)', () => {
  const rejected = seen.answers.filter(({ status }) => status === 429)

  // What starts a run comes first in each round, and a catalog is remembered: these may all be lucky.
  expect(rejectedEndpoints(seen.answers).size).toBeGreaterThanOrEqual(MIN_REJECTED_ENDPOINTS)
  // An update whose run ended during the first attempt may have arrived, so there is no Retry-After.
  const error = promisedError(7, '429 ResourceExhaustedError')
  const invites = (endpoint: string) => (endpoint.includes('/update/') ? expect.toBeOneOf(['1', null]) : '1')
  expect(
    rejected.map(({ endpoint, status, body, headers }) => [
      endpoint,
      status,
      body.error,
      body.source,
      headers.get('Retry-After'),
    ]),
  ).toEqual(rejected.map(({ endpoint }) => [endpoint, ...error, 'engine', invites(endpoint)]))
  expect(seen.callsRejected).toBeGreaterThan(0)
})

test('rate: no request gets another error (failure 7)', () => {
  const others = toStatusLines(seen.answers.filter(({ status }) => status !== 200 && status !== 429))

  // What there is to say of a run that is open, then stopped and terminated, and of a catalog that does not exist.
  // While the run is open, it has no activity to report on.
  const due =
    /WorkflowNotRunningError|WorkflowNotReadyError|WorkflowNotCompletedError|ActivityNotFoundError|CatalogNotFoundError/
  expect(others.filter((line) => !due.test(line))).toEqual([])
})

test('rate: every started run returns its result (failure 7)', () => {
  expect(seen.waited.map(({ status, body }) => [status, body.status])).toEqual([
    [200, 'completed'],
    ...[1, 2, 3].map(() => [200, 'completed']),
    ...[1, 2, 3].map(() => [200, 'canceled']),
  ])
})
