import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

const SPIN = 'const until = Date.now() + 500; while (Date.now() < until);'

/**
 * How many processors this process gets. A quota, or the host of a virtual machine,
 * may give it less than the machine shows.
 */
export async function processorsGiven(): Promise<number> {
  const beganAt = performance.now()
  const before = process.cpuUsage()
  const threads = Array.from({ length: availableParallelism() }, () => new Worker(SPIN, { eval: true }))
  await Promise.all(threads.map((thread) => once(thread, 'exit')))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (performance.now() - beganAt)
}
