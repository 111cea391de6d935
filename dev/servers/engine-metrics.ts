import { setTimeout as pause } from 'node:timers/promises'

// Calls of workers, and calls that no request causes: the ping, and the namespace lookups of the SDK's worker.
const IGNORED =
  /^(Poll(Activity|Nexus|Workflow)TaskQueue|Respond.*|Record.*|ShutdownWorker|GetSystemInfo|DescribeNamespace|ListWorkers|FetchWorkerConfig)$/

// The engine's counters lag behind by up to a second.
const LAG_MS = 1200

/**
 * Counts the calls that the engine receives while `act` runs, by operation.
 * Nothing else may use the engine at the same time.
 */
export async function callsDuring(metricsUrl: string, act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await settled(metricsUrl)
  await act()
  const after = await settled(metricsUrl)
  const calls = [...after].map(([operation, count]) => [operation, count - (before.get(operation) ?? 0)] as const)
  return Object.fromEntries(calls.filter(([, count]) => count > 0))
}

/** Number of open long polls of a history. */
export function openPolls(metricsUrl: string): Promise<number> {
  return openCalls(metricsUrl, 'PollWorkflowExecutionHistory')
}

/** Number of calls without a response so far. */
export async function openCalls(metricsUrl: string, name: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const of = (metric: string) =>
    [...samples(text, metric)].reduce((sum, [operation, count]) => sum + (operation === name ? count : 0), 0)
  return of('service_requests') - of('service_latency_count')
}

async function settled(metricsUrl: string): Promise<Map<string, number>> {
  await pause(LAG_MS)
  const text = await (await fetch(metricsUrl)).text()
  const counts = new Map<string, number>()
  for (const [operation, count] of samples(text, 'service_requests')) {
    if (!IGNORED.test(operation)) counts.set(operation, (counts.get(operation) ?? 0) + count)
  }
  return counts
}

function* samples(text: string, metric: string): Generator<[operation: string, count: number]> {
  for (const [, labels = '', count = '0'] of text.matchAll(new RegExp(`^${metric}\\{([^}]*)\\} (\\S+)$`, 'gm'))) {
    const operation = /operation="([^"]*)"/.exec(labels)?.[1]
    const isOurs = labels.includes('service_name="frontend"') && !labels.includes('namespace="temporal_system"')
    if (operation !== undefined && isOurs) yield [operation, Number(count)]
  }
}
