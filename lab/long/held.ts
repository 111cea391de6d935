import { residentMiB } from '../../dev/servers/process-usage.ts'
import type { TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { ServedEntry } from '../../test/support/entries.ts'
import { metricsOf, sumOf } from '../../test/support/prometheus.ts'

/** What a service holds: open at the engine, and in memory. */
export interface Held {
  polls: number
  connections: number
  residentMiB: number
}

// Code that only an outage runs is compiled, and garbage is collected later.
const MAX_MORE_MIB = 32

export async function heldBy(
  service: Pick<ServedEntry, 'metricsUrl' | 'pid'>,
  proxy: Pick<TcpProxy, 'open'>,
): Promise<Held> {
  const polls = sumOf(await metricsOf(service), 'portico_open_polls')
  return { polls, connections: proxy.open(), residentMiB: Math.round(residentMiB(service.pid)) }
}

/** Waits until the service holds a poll for each wait again, no further connection, and hardly more memory. */
export async function untilHeldAsBefore(
  before: Held,
  service: Pick<ServedEntry, 'metricsUrl' | 'pid'>,
  proxy: Pick<TcpProxy, 'open'>,
): Promise<void> {
  await until('it holds as much as before', async () => {
    const now = await heldBy(service, proxy)
    const isBack = now.polls === before.polls && now.connections <= before.connections
    if (isBack && now.residentMiB <= before.residentMiB + MAX_MORE_MIB) return true
    throw new Error(`${JSON.stringify(now)}, not ${JSON.stringify(before)}`)
  })
}

/** Waits until the process has hardly more memory than before. */
export async function untilMemoryAsBefore(beforeMiB: number, { pid }: { pid: number }): Promise<void> {
  await until('it has hardly more memory than before', () => {
    const nowMiB = residentMiB(pid)
    if (nowMiB <= beforeMiB + MAX_MORE_MIB) return true
    throw new Error(`${nowMiB} MiB, not ${beforeMiB}`)
  })
}
