import { readdirSync, readFileSync } from 'node:fs'

const SAMPLE_EVERY_MS = 250
const OWN_THREAD = '/proc/thread-self'

// Linux counts it in hundredths of a second, also where its own timer ticks faster.
const STEAL_UNIT_MS = 10

/**
 * Begins to measure a service in a process of its own. Returns a function for the milliseconds that have passed since then,
 * without those in which the service, or the thread that measures it, used a processor or waited for one. A machine, however
 * busy or slow, adds nothing to it: what takes long by this clock has waited longer than it should.
 *
 * Without Linux's `/proc` it is an ordinary clock.
 */
export function idleClock({ pid }: { pid: number }): () => number {
  const beganAt = performance.now()
  const ownAtBegin = busyMsOfThread(OWN_THREAD)
  const stolenAtBegin = stolenMs()
  const threads = threadsOf(pid)
  let busyMs = 0
  let before = busyMsOf(threads())
  const sample = () => {
    const now = busyMsOf(threads())
    // Threads that work at the same time, as on a garbage collection, delay the service once.
    busyMs += Math.max(0, ...[...now].map(([thread, ms]) => ms - (before.get(thread) ?? 0)))
    before = now
    if (now.size === 0) clearInterval(sampling)
  }
  // Nothing is known of a process that has ended, except what was read before.
  const sampling = setInterval(sample, SAMPLE_EVERY_MS).unref()
  return () => {
    sample()
    const ownMs = busyMsOfThread(OWN_THREAD) - ownAtBegin
    const mostStolenMs = Math.max(0, ...stolenMs().map((ms, cpu) => ms - (stolenAtBegin[cpu] ?? 0)))
    return Math.max(0, performance.now() - beganAt - ownMs - busyMs - mostStolenMs)
  }
}

/** Of each processor of this machine, the time in which its host did not run it. */
function stolenMs(): number[] {
  const columns = read('/proc/stat').matchAll(/^cpu\d+ (?:\d+ ){7}(\d+)/gm)
  return [...columns].map(([, steal]) => Number(steal) * STEAL_UNIT_MS)
}

/** The threads of the processes in the group of `pid`: a script may have started the service. */
function threadsOf(pid: number): () => string[] {
  const isInGroup = (process: string) => {
    const stat = read(`/proc/${process}/stat`)
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) === pid
  }
  const processes = list('/proc').filter((name) => /^\d+$/.test(name) && isInGroup(name))
  return () =>
    processes.flatMap((process) => list(`/proc/${process}/task`).map((thread) => `/proc/${process}/task/${thread}`))
}

function busyMsOf(threads: string[]): Map<string, number> {
  const times = threads.map((thread): [string, number] => [thread, busyMsOfThread(thread)])
  return new Map(times.filter(([, ms]) => ms > 0))
}

/** The time on a processor, and the time in which it was ready to run but waited for one. */
function busyMsOfThread(thread: string): number {
  const [runningNs = 0, waitingNs = 0] = read(`${thread}/schedstat`).split(' ').map(Number)
  return (runningNs + waitingNs) / 1e6
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // it has ended, or there is no /proc
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // it has ended
  }
}
