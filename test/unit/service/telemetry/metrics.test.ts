import { expect, test } from 'vitest'
import { RpcError, type Transport } from '../../../../src/service/engine/transport/transport.ts'
import { createMetrics } from '../../../../src/service/telemetry/metrics.ts'
import { hostTracer, observedTransport } from '../../../../src/service/telemetry/observers.ts'
import { parseMetrics, sumOf } from '../../../support/prometheus.ts'
import { ALL_FEATURES } from '../engine/calls/scripted-context.ts'

const BUILD = { version: '1.2.3', runtime: 'node', transport: 'grpc' }

test('labels: a method that clients invent is counted as _OTHER, so that they cannot create series (threat 30)', () => {
  const metrics = createMetrics(BUILD)

  for (const method of ['BREW', 'WHEN']) {
    metrics.requestStarted(method)
    metrics.requestEnded({ method, route: null, status: 405, ms: 3 })
  }

  const samples = parseMetrics(metrics.text())
  const counts = samples.filter(({ name }) => name === 'http_server_request_duration_seconds_count')
  const labels = { http_request_method: '_OTHER', http_route: '', http_response_status_code: '405' }
  expect(counts).toEqual([{ name: 'http_server_request_duration_seconds_count', labels, value: 2 }])
})

test('calls: an error is counted with the name of its gRPC code, any other error as UNKNOWN', async () => {
  const metrics = createMetrics(BUILD)
  const errors = [...[8, 14, 4].map((code) => new RpcError('failed', { code })), new TypeError('a bug')]
  const transport: Transport = {
    name: 'grpc',
    features: ALL_FEATURES,
    call: () => Promise.reject(errors.shift()),
    close: async () => {},
  }
  const measured = observedTransport(transport, { tracer: hostTracer(), metrics })
  const { signal } = new AbortController()

  const send = () => measured.call('getSystemInfo', {}, { deadlineAt: 0, signal })
  await Promise.allSettled([send(), send(), send(), send()])

  const samples = parseMetrics(metrics.text())
  const counted = (code: string) =>
    sumOf(samples, 'rpc_client_call_duration_seconds_count', {
      rpc_method: 'GetSystemInfo',
      rpc_response_status_code: code,
    })
  const codes = ['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'DEADLINE_EXCEEDED', 'UNKNOWN']
  expect(codes.map(counted)).toEqual([1, 1, 1, 1])
})

test('build: version, runtime and transport are labels', () => {
  expect(sumOf(parseMetrics(createMetrics(BUILD).text()), 'portico_build_info', BUILD)).toBe(1)
})

test('policy: the age of the keys has a series for each issuer, and is read at each scrape', () => {
  const ages: [string, number][] = []
  const metrics = createMetrics(BUILD, () => ages)
  const agesIn = () =>
    parseMetrics(metrics.text())
      .filter(({ name }) => name === 'portico_jwks_age_seconds')
      .map(({ labels, value }) => [labels, value])

  const before = agesIn()
  ages.push(['main', 1.5], ['partners', 600])

  expect(before).toEqual([])
  expect(agesIn()).toEqual([
    [{ issuer: 'main' }, 1.5],
    [{ issuer: 'partners' }, 600],
  ])
})

test('policy: denials, limits and failed reloads are counted by names from the policy alone (threat 30)', () => {
  const metrics = createMetrics(BUILD)

  metrics.callerDenied('signal', 'none')
  metrics.callerLimited('users')
  metrics.callerLimited('users')
  metrics.policyReloadFailed()

  const samples = parseMetrics(metrics.text()).filter(({ name }) => /denied|limited|reload/.test(name))
  expect(samples).toEqual([
    { name: 'portico_denied_total', labels: { action: 'signal', rule: 'none' }, value: 1 },
    { name: 'portico_limited_total', labels: { rule: 'users' }, value: 2 },
    { name: 'portico_policy_reload_failures_total', labels: {}, value: 1 },
  ])
})
