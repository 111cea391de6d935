import { setTimeout as pause } from 'node:timers/promises'

// What workers call, and what tells nothing of a request: the ping, and the namespace lookups of the SDK's worker.
const OTHERS =
  /^(Poll(Activity|Nexus|Workflow)TaskQueue|Respond.*|Record.*|ShutdownWorker|GetSystemInfo|DescribeNamespace|ListWorkers|FetchWorkerConfig)$/

// The engine's counters lag behind by up to a second.
const LAG_MS = 1200

/** Which calls the engine was made while `act` ran, by operation. Nobody else may use the engine meanwhile. */
export async function callsDuring(metricsUrl: string, act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await settled(metricsUrl)
  await act()
  const after = await settled(metricsUrl)
  const calls = [...after].map(([operation, count]) => [operation, count - (before.get(operation) ?? 0)] as const)
  return Object.fromEntries(calls.filter(([, count]) => count > 0))
}

/** Long polls of the history that are open right now. */
export function openPolls(metricsUrl: string): Promise<number> {
  return openCalls(metricsUrl, 'PollWorkflowExecutionHistory')
}

/** Calls that the engine has not answered yet. */
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
    if (!OTHERS.test(operation)) counts.set(operation, (counts.get(operation) ?? 0) + count)
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
