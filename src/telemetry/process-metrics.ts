import type { Registry } from './prometheus.ts'

/** The metrics of the process that the runtime can read without further permissions. */
export function processMetrics(registry: Registry): void {
  registry.computed({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time of the process.',
    type: 'counter',
    read: () => orNull(({ cpuUsage }) => (cpuUsage().user + cpuUsage().system) / 1e6),
  })
  registry.computed({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    type: 'gauge',
    read: () => orNull(({ memoryUsage }) => memoryUsage().rss),
  })
  registry.computed({
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    type: 'gauge',
    read: () => performance.timeOrigin / 1000,
  })
}

/** Null where the runtime does not have the value, or does not permit reading it. */
function orNull(read: (process: NodeJS.Process) => number): number | null {
  try {
    // Not imported: workerd may not have it, and Deno loads it when it is first used (decision 020).
    return read(globalThis.process)
  } catch {
    return null
  }
}
