/** Child processes whose output tests can watch. */
import { readFileSync } from 'node:fs'
import { type ProcessOptions, type RunningProcess, startProcess as start } from '../../src/cli/dev/servers/process.ts'

/**
 * Called with the environment of each process that starts, and a function that says whether it has ended.
 * Returns a function that gets each line of its output, or null.
 */
export type ProcessObserver = (env: NodeJS.ProcessEnv, hasEnded: () => boolean) => ((line: string) => void) | null

const observers = new Set<ProcessObserver>()

/**
 * Registers an observer of every process that this module starts from now on. Tests check the output of all of them
 * with it, and register it again for each file.
 */
export function observeProcesses(observer: ProcessObserver): void {
  observers.add(observer)
}

/** Rejects if the command cannot be started. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  let pid: number | null = null
  const running = await start({ ...options, onLine: observed(options, () => pid !== null && hasExited(pid)) })
  pid = running.pid
  return running
}

/** What handles each line of a process, once its observers have seen it. */
export function observed(
  { env = process.env, onLine }: Pick<ProcessOptions, 'env' | 'onLine'>,
  hasEnded: () => boolean = () => false,
) {
  const watchers = [...observers].map((observe) => observe(env, hasEnded))
  return (line: string): void => {
    for (const watch of watchers) watch?.(line)
    onLine?.(line)
  }
}

/** Whether no process with that id is running. A zombie counts as gone. */
export function hasExited(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return true // ESRCH
  }
  return isZombie(pid)
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false // no /proc (macOS), or the process has just exited
  }
}
