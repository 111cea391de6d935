/** What must be true when all clients have left. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gaugesIn, openGauges } from '../support/open-gauges.ts'
import { ORIGIN } from './client-network.ts'
import type { Gateways } from './gateways.ts'
import { probePolls } from './probe-polls.ts'
import type { Tenants } from './tenants.ts'
import type { VirtualTime } from './virtual-time.ts'

// The engine ends the last long polls after 20 s.
const REST_MS = 31_000
// The runtime keeps up to three of the last ones.
const MAX_IN_MEMORY = 5

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

export interface Rest {
  time: VirtualTime
  tenants: Tenants
  /** As many as each gateway may poll at once. */
  openRuns: readonly string[]
  /** Whether to look for requests that are still in memory, which takes a while. */
  readsMemory: boolean
}

/** What the gateways still hold: requests, calls, timers, memory, gauges of metrics, and places for long polls. */
export async function restOf(gateways: Gateways, rest: Rest): Promise<string[]> {
  const { time } = rest
  await time.run(() => false, REST_MS)
  if (rest.readsMemory) collectGarbage()
  const left: string[] = []
  for (const gateway of gateways.all()) {
    const { name, portico, calls, requests } = gateway
    const open = { requests: portico.openRequests(), calls, timers: time.timersOf(name) }
    if (Object.values(open).some((count) => count > 0)) left.push(`not idle: ${name} has ${JSON.stringify(open)}`)
    const inMemory = rest.readsMemory ? requests.filter((request) => request.deref() !== undefined).length : 0
    if (inMemory > MAX_IN_MEMORY) left.push(`memory: ${name} still has ${inMemory} of ${requests.length} requests`)
    const scrape = new Request(`${ORIGIN}/metrics`)
    const metrics = time.as(name, async () => (await portico.fetchMetrics?.(scrape))?.text() ?? '')
    let gauges: string[] | null = null
    void metrics.then((text) => {
      gauges = openGauges(gaugesIn(text), { countScrapes: false })
    })
    await time.run(() => gauges !== null, 1000)
    if (gauges === null || (gauges as string[]).length > 0) left.push(`not idle: ${name} ${gauges}`)
    left.push(...(await probePolls(gateway, rest)))
  }
  return left
}
