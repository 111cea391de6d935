/** Metrics and spans on each runtime, through its bundle. */
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { processOf, type ServedEntry, type ServeEntry, workerdOf } from '../support/entries.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'
import { readiness } from '../support/readiness.ts'

const RUNTIMES = {
  node: (bundles) => processOf(process.execPath, join(bundles, 'node.js')),
  bun: (bundles) => processOf(bin('bun'), join(bundles, 'bun.js')),
  deno: (bundles) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, join(bundles, 'deno.js')),
} satisfies Record<string, (bundles: string) => ServeEntry>

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const FIRST_TRACE_ID = '1af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const SERVER = 2
const CLIENT = 3

const env = () => ({
  SERVICE_CATALOG_ID: `telemetry-${crypto.randomUUID()}`,
  SERVICE_API_AUTH_TOKEN: 'telemetry-token',
  SERVICE_METRICS_ON: 'true',
  ENGINE_ADDRESS: inject('engine').address,
})

describe.concurrent.each(Object.entries(RUNTIMES))('telemetry on %s', (runtime, serveBundle) => {
  test(`${runtime}: /metrics on a port of its own, without a token and without anything else (threat 96)`, async () => {
    const service = await serveBundle(await ensureBundles())({ ...env(), SERVICE_METRICS_PORT: '0' })
    try {
      const { metricsUrl = '' } = service
      await fetch(`${service.url}/health`)

      const [scraped, elsewhere, onMainPort] = [
        await fetch(metricsUrl),
        await fetch(new URL('/health', metricsUrl)),
        await fetch(`${service.url}/metrics`, { headers: { Authorization: 'Bearer telemetry-token' } }),
      ]

      const samples = parseMetrics(await scraped.text())
      expect([scraped.status, elsewhere.status, onMainPort.status]).toEqual([200, 404, 404])
      expect(sumOf(samples, 'http_server_request_duration_seconds_count', { http_route: '/health' })).toBe(1)
      expect(sumOf(samples, 'portico_build_info', { runtime, transport: 'grpc' })).toBe(1)
      expect(sumOf(samples, 'process_cpu_seconds_total')).toBeGreaterThan(0)
      expect(sumOf(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1 << 20)
    } finally {
      await service.stop()
    }
    expect(await service.ended).toEqual({ code: 0, signal: null })
  })

  test(`${runtime}: spans continue the client's trace, and are exported before the process ends`, async () => {
    await using receiver = await receiving()
    const service = await serveBundle(await ensureBundles())({ ...env(), OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
    const { call: send } = makeApi({ url: service.url })
    // The first request loads what later ones need.
    const traceparent = `00-${FIRST_TRACE_ID}-${PARENT_ID}-01`
    await readiness({ call: (method, path) => send(method, path, undefined, { traceparent }) })
    const response = await fetch(`${service.url}/workflow/unknown-id/status`, {
      headers: { Authorization: 'Bearer telemetry-token', traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` },
    })
    await service.stop()

    const ours = receiver.spans.filter(({ traceId }) => traceId === TRACE_ID)
    const server = ours.find(({ kind }) => kind === SERVER)
    const first = receiver.spans.find(({ traceId, kind }) => traceId === FIRST_TRACE_ID && kind === SERVER)
    const call = ours.find(({ kind }) => kind === CLIENT)
    expect(await service.ended).toEqual({ code: 0, signal: null })
    expect([response.status, [...receiver.contentTypes]]).toEqual([404, ['application/x-protobuf']])
    expect(first).toMatchObject({ name: 'GET /ready', parentSpanId: PARENT_ID })
    expect(server).toMatchObject({
      service: 'portico',
      parentSpanId: PARENT_ID,
      name: 'GET /workflow/:id/status',
      statusCode: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/workflow/:id/status',
        'http.response.status_code': 404,
        'url.scheme': 'http',
        'url.path': '/workflow/unknown-id/status',
        'error.type': 'WorkflowNotFoundError',
      },
    })
    expect(call).toMatchObject({
      parentSpanId: server?.spanId,
      name: 'temporal.api.workflowservice.v1.WorkflowService/DescribeWorkflowExecution',
      statusCode: 2,
      attributes: { 'rpc.response.status_code': 'NOT_FOUND', 'error.type': 'NOT_FOUND' },
    })
    expect(logLines(service)).toContainEqual(
      expect.objectContaining({ message: 'request', route: '/workflow/:id/status', traceId: TRACE_ID }),
    )
  })
})

test('spans as JSON; and a collector that hangs neither delays the end of the process nor is an error (failure 39)', async () => {
  await using receiver = await receiving()
  const service = await RUNTIMES.node(await ensureBundles())({
    ...env(),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'front door',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  })
  await fetch(`${service.url}/health`)
  const span = await until('a span is exported', () => receiver.spans[0])
  receiver.hang()
  await fetch(`${service.url}/health`)

  process.kill(service.pid, 'SIGTERM')

  expect(await service.ended).toEqual({ code: 0, signal: null })
  expect(span).toMatchObject({ service: 'front door', name: 'GET /health', kind: SERVER, parentSpanId: '' })
  expect([...receiver.contentTypes]).toEqual(['application/json'])
})

test('workerd: /metrics is not supported', async () => {
  const service = await workerdOf(join(await ensureBundles(), 'workerd.js'))({ ...env(), SERVICE_METRICS_PORT: '9464' })
  try {
    const response = await fetch(`${service.url}/metrics`, { headers: { Authorization: 'Bearer telemetry-token' } })

    expect([response.status, await response.json()]).toMatchObject([501, { error: 'NotSupportedError' }])
  } finally {
    await service.stop()
  }
})

async function receiving(): Promise<OtlpReceiver & AsyncDisposable> {
  const receiver = await startOtlpReceiver()
  return { ...receiver, [Symbol.asyncDispose]: () => receiver.stop() }
}

function logLines({ output }: ServedEntry): unknown[] {
  return output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}
