import { readdirSync, readFileSync } from 'node:fs'

const SAMPLE_EVERY_MS = 250
const OWN_THREAD = '/proc/thread-self'

// Linux counts it in hundredths of a second, also where its own timer ticks faster.
const STEAL_UNIT_MS = 10

/**
 * Begins to measure a service in a process of its own. Returns a function for the milliseconds that have passed since
 * then, without those in which the service, or the thread that measures it, used a processor or waited for one. A
 * machine, however busy or slow, adds nothing to it: what takes long by this clock has waited longer than it should.
 *
 * Without Linux's `/proc` it is an ordinary clock.
 */
export function idleClock(service: { pid: number }): () => number {
  return clockWithout('runningOrWaiting', service.pid)
}

/**
 * The same with the time in which the service used a processor: what it would have taken if the machine did nothing
 * else. For a bound in seconds of work, which `onThisMachine` (`cpu-ms.ts`) makes longer on a machine with slow
 * processors.
 */
export function undisturbedClock(service: { pid: number }): () => number {
  return clockWithout('waiting', service.pid)
}

function clockWithout(excluded: Excluded, pid: number): () => number {
  const beganAt = performance.now()
  const ownAtBegin = EXCLUDED_MS[excluded](timesOf(OWN_THREAD))
  const stolenAtBegin = stolenMs()
  const othersMs = timeOfThreads(excluded, pid)
  const othersAtBegin = othersMs()
  return () => {
    const ownMs = EXCLUDED_MS[excluded](timesOf(OWN_THREAD)) - ownAtBegin
    const mostStolenMs = Math.max(0, ...stolenMs().map((ms, cpu) => ms - (stolenAtBegin[cpu] ?? 0)))
    return Math.max(0, performance.now() - beganAt - ownMs - (othersMs() - othersAtBegin) - mostStolenMs)
  }
}

type Excluded = 'runningOrWaiting' | 'waiting'

const EXCLUDED_MS: Readonly<Record<Excluded, (of: ThreadTimes) => number>> = {
  runningOrWaiting: ({ runningMs, waitingMs }) => runningMs + waitingMs,
  waiting: ({ waitingMs }) => waitingMs,
}

// All clocks of a service share them.
const samplers = new Map<string, () => number>()

/**
 * Samples the threads of a process until it ends.
 * Returns a function for the time that they were excluded since the first call.
 */
function timeOfThreads(excluded: Excluded, pid: number): () => number {
  const key = `${excluded} ${pid}`
  const sampler = samplers.get(key) ?? sample(excluded, pid, () => samplers.delete(key))
  samplers.set(key, sampler)
  return sampler
}

function sample(excluded: Excluded, pid: number, onEnd: () => void): () => number {
  const threads = threadsOf(pid)
  const readAll = () =>
    new Map(threads().map((thread): [string, number] => [thread, EXCLUDED_MS[excluded](timesOf(thread))]))
  let totalMs = 0
  let before = readAll()
  const readMore = () => {
    const now = readAll()
    // Threads that work at the same time, as on a garbage collection, delay the service once.
    totalMs += Math.max(0, ...[...now].map(([thread, ms]) => ms - (before.get(thread) ?? 0)))
    before = now
    // Nothing is known of a process that has ended, except what was read before.
    if (now.size === 0) {
      clearInterval(sampling)
      onEnd()
    }
    return totalMs
  }
  const sampling = setInterval(readMore, SAMPLE_EVERY_MS).unref()
  return readMore
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
    const found: string[] = []
    // The loop also reaches the ids that it adds.
    for (const process of family) {
      const threads = list(`/proc/${process}/task`).map((thread) => `/proc/${process}/task/${thread}`)
      const children = threads.flatMap((thread) => read(`${thread}/children`).match(/\d+/g) ?? [])
      for (const child of children) family.add(Number(child))
      found.push(...threads)
    }
    return found
  }
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
