/** Waits for runs that are open, to see whether a gateway at rest still has all of its places for long polls. */
import { gaugesIn } from '../support/open-gauges.ts'
import { parseMetrics } from '../support/prometheus.ts'
import { ORIGIN } from './client-network.ts'
import type { Gateway } from './gateways.ts'
import type { Rest } from './invariants.ts'

// Places that the engine has refused come back one after the other, every 20 s.
const RECOVERY_MS = 100_000
// A run is read before it is polled.
const SETTLE_MS = 1000
const WAIT_MS = 3000

export async function probePolls({ name, portico }: Gateway, { time, tenants, openRuns }: Rest): Promise<string[]> {
  await time.run(() => false, RECOVERY_MS)
  const token = tenants.credentialOf('waiting')
  const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` }
  const wait = async (workflowId: string) => {
    const url = `${ORIGIN}/workflow/${workflowId}/result?wait=${WAIT_MS}`
    await (await portico.fetch(new Request(url, { headers }))).text()
  }
  const scrape = async () =>
    parseMetrics(gaugesIn((await (await portico.fetchMetrics?.(new Request(`${ORIGIN}/metrics`)))?.text()) ?? ''))
  let isOver = false
  void time
    .as(name, () => Promise.all(openRuns.map(wait)))
    .then(() => {
      isOver = true
    })
  await time.run(() => false, SETTLE_MS)
  let samples: ReturnType<typeof parseMetrics> = []
  void time.as(name, scrape).then((read) => {
    samples = read
  })
  await time.run(() => samples.length > 0, SETTLE_MS)
  await time.run(() => isOver, 2 * WAIT_MS)
  const expected = {
    // A caller with rules gets half of them.
    portico_open_polls: token === null ? openRuns.length : openRuns.length / 2,
    portico_open_waits: openRuns.length,
    // A wait does not count as work.
    portico_requests_in_flight: 0,
  }
  return Object.entries(expected).flatMap(([gauge, count]) => {
    const value = samples.find((sample) => sample.name === gauge)?.value ?? 0
    return value === count ? [] : [`places: ${gauge} of ${name} is ${value} instead of ${count}`]
  })
}
