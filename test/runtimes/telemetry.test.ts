/** Metrics on each runtime, through its bundle. */
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { processOf, type ServedEntry, type ServeEntry, workerdOf } from '../support/entries.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'

const RUNTIMES: Record<string, (bundles: string) => ServeEntry> = {
  node: (bundles) => processOf(process.execPath, join(bundles, 'node.js')),
  bun: (bundles) => processOf(bin('bun'), join(bundles, 'bun.js')),
  deno: (bundles) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, join(bundles, 'deno.js')),
}

const env = () => ({
  PATH: process.env.PATH ?? '',
  SERVICE_CATALOG_ID: `telemetry-${crypto.randomUUID()}`,
  SERVICE_PORT: '0',
  SERVICE_API_AUTH_TOKEN: 'telemetry-token',
  SERVICE_METRICS_ON: 'true',
  ENGINE_ADDRESS: inject('engine').address,
})

describe.concurrent.each(Object.entries(RUNTIMES))('telemetry on %s', (runtime, serveBundle) => {
  test(`${runtime}: /metrics on a port of its own, without a token and without anything else`, async () => {
    const service = await serveBundle(await ensureBundles())({ ...env(), SERVICE_METRICS_PORT: '0' })
    try {
      const metricsUrl = metricsUrlOf(service)
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

function metricsUrlOf({ output }: ServedEntry): string {
  const [, url] = /"metricsUrl":"([^"]+)"/.exec(output()) ?? []
  if (url === undefined) throw new Error(`The service does not log where its metrics are:\n${output()}`)
  return url
}
