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
export function idleClock(service: { pid: number }): () => number {
  return clockWithout(service, ({ runningMs, waitingMs }) => runningMs + waitingMs)
}

/**
 * The same with the time in which the service used a processor: what it would have taken if the machine did nothing else. For a
 * bound in seconds of work, which `onThisMachine` (`cpu-ms.ts`) makes longer on a machine with slow processors.
 */
export function undisturbedClock(service: { pid: number }): () => number {
  return clockWithout(service, ({ waitingMs }) => waitingMs)
}

function clockWithout({ pid }: { pid: number }, excludedMs: (of: ThreadTimes) => number): () => number {
  const beganAt = performance.now()
  const ownAtBegin = excludedMs(timesOf(OWN_THREAD))
  const stolenAtBegin = stolenMs()
  const threads = threadsOf(pid)
  const readAll = () => new Map(threads().map((thread): [string, number] => [thread, excludedMs(timesOf(thread))]))
  let othersMs = 0
  let before = readAll()
  const sample = () => {
    const now = readAll()
    // Threads that work at the same time, as on a garbage collection, delay the service once.
    othersMs += Math.max(0, ...[...now].map(([thread, ms]) => ms - (before.get(thread) ?? 0)))
    before = now
    if (now.size === 0) clearInterval(sampling)
  }
  // Nothing is known of a process that has ended, except what was read before.
  const sampling = setInterval(sample, SAMPLE_EVERY_MS).unref()
  return () => {
    sample()
    const ownMs = excludedMs(timesOf(OWN_THREAD)) - ownAtBegin
    const mostStolenMs = Math.max(0, ...stolenMs().map((ms, cpu) => ms - (stolenAtBegin[cpu] ?? 0)))
    return Math.max(0, performance.now() - beganAt - ownMs - othersMs - mostStolenMs)
  }
}

/** Of each processor of this machine, the time in which its host did not run it. */
function stolenMs(): number[] {
  const columns = read('/proc/stat').matchAll(/^cpu\d+ (?:\d+ ){7}(\d+)/gm)
  return [...columns].map(([, steal]) => Number(steal) * STEAL_UNIT_MS)
}

/** The threads of `pid` and of what it has started: a script may start the service, and the service other programs. */
function threadsOf(pid: number): () => string[] {
  const family = new Set([pid])
  return () => {
    // A parent has the lower id, unless the ids have begun again: then the next sample finds the child.
    for (const process of processes()) if (family.has(parentOf(process))) family.add(process)
    return [...family].flatMap((process) =>
      list(`/proc/${process}/task`).map((thread) => `/proc/${process}/task/${thread}`),
    )
  }
}

function processes(): number[] {
  return list('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .sort((one, other) => one - other)
}

function parentOf(process: number): number {
  const stat = read(`/proc/${process}/stat`)
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

interface ThreadTimes {
  /** On a processor. */
  runningMs: number
  /** Ready to run, without a processor. */
  waitingMs: number
}

function timesOf(thread: string): ThreadTimes {
  const [runningNs = 0, waitingNs = 0] = read(`${thread}/schedstat`).split(' ').map(Number)
  return { runningMs: runningNs / 1e6, waitingMs: waitingNs / 1e6 }
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
