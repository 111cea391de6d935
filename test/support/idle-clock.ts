import { readdirSync, readFileSync } from 'node:fs'
import { runningMs } from './running-ms.ts'

const SAMPLE_EVERY_MS = 20

/**
 * Begins to measure a service in a process of its own. Returns a function for the milliseconds that have passed since then,
 * without those in which this process did not run, and those in which the service used a processor or waited for one. A
 * machine, however busy or slow, adds nothing to it: what takes long by this clock has waited longer than it should.
 *
 * Without Linux's `/proc` only the first is left out.
 */
export function idleClock({ pid }: { pid: number }): () => number {
  const beganAt = runningMs()
  const threads = threadsOf(pid)
  let busyMs = 0
  let before = busyMsOf(threads())
  const sample = () => {
    const now = busyMsOf(threads())
    for (const [thread, ms] of now) busyMs += ms - (before.get(thread) ?? 0)
    before = now
    if (now.size === 0) clearInterval(sampling)
  }
  // Nothing is known of a process that has ended, except what was read before.
  const sampling = setInterval(sample, SAMPLE_EVERY_MS).unref()
  return () => {
    sample()
    return Math.max(0, runningMs() - beganAt - busyMs)
  }
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

/** Of each thread the time on a processor and the time it was ready to run but waited for one. */
function busyMsOf(threads: string[]): Map<string, number> {
  const times = threads.map((thread): [string, number] => {
    const [runningNs = 0, waitingNs = 0] = read(`${thread}/schedstat`).split(' ').map(Number)
    return [thread, (runningNs + waitingNs) / 1e6]
  })
  return new Map(times.filter(([, ms]) => ms > 0))
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
