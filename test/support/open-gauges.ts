import { sleep } from '../../src/shared/lib/abort.ts'
import { parseMetrics, type Sample } from './prometheus.ts'

// Gauges that describe the process, and what it remembers.
const CONSTANT = new Set(['portico_build_info', 'portico_jwks_age_seconds'])

/**
 * The gauges of what a service is doing now, such as `portico_requests_in_flight{} 1`. Empty if it is idle.
 * `countScrapes`: whether the request that has read the metrics is one of the requests that they count.
 */
export function openGauges(metrics: string, { countScrapes }: { countScrapes: boolean }): string[] {
  return parseMetrics(metrics)
    .filter((sample) => isOpen(sample, countScrapes))
    .map(({ name, labels, value }) => `${name}${JSON.stringify(labels)} ${value}`)
}

/** The families of gauges alone: most of the text is about histograms. */
export function gaugesIn(metrics: string): string {
  const families = metrics.split(/^(?=# HELP )/m)
  return families.filter((family) => /^# TYPE \S+ gauge$/m.test(family)).join('')
}

// The engine holds a poll for 20 s, and workerd ends a wait of a client that has left when it next writes.
const IDLE_WITHIN_MS = 30_000
const PROBE_EVERY_MS = 100

/** What `read` still returns 30 s after the last client has left. Nothing, unless the service leaks. */
export async function workAtRest(read: () => Promise<string[]>): Promise<string[]> {
  const deadlineAt = Date.now() + IDLE_WITHIN_MS
  while (true) {
    const work = await read()
    if (work.length === 0 || Date.now() > deadlineAt) return work
    await sleep(PROBE_EVERY_MS)
  }
}

function isOpen({ name, labels, value }: Sample, countScrapes: boolean): boolean {
  const isGauge = /^(?:portico_|http_server_active_)/.test(name) && !/_(?:total|bucket|sum|count)$/.test(name)
  const isScrape = name === 'http_server_active_requests' && labels.http_request_method === 'GET'
  return isGauge && !CONSTANT.has(name) && value !== (countScrapes && isScrape ? 1 : 0)
}
