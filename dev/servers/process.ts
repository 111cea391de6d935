/** Child processes that never outlive us. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface ProcessOptions {
  command: string
  args?: string[]
  /** The whole environment; ours when absent. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Gets each line of stdout and stderr as it comes. */
  onLine?: (line: string) => void
}

export interface Ended {
  /** Null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
}

export interface RunningProcess {
  /** Also the id of its process group: Ctrl-C in our terminal does not reach it. */
  pid: number
  /** Settles when it has ended, whoever ended it; never rejects. */
  ended: Promise<Ended>
  /** Last lines of stdout and stderr. */
  output(): string
  /** Asks it to end with SIGTERM, kills it after `graceMs`. */
  stop(graceMs: number): Promise<Ended>
  /** Kills it and what it has started in its process group. */
  kill(): Promise<Ended>
}

/** Called with the environment of each process that starts. Returns what to call with each line it prints; null for nothing. */
export type ProcessObserver = (env: NodeJS.ProcessEnv) => ((line: string) => void) | null

const observers: ProcessObserver[] = []

/** Registers an observer of every process that this module starts from now on. Tests check the output of all of them with it. */
export function observeProcesses(observer: ProcessObserver): void {
  observers.push(observer)
}

// Node keeps the compiled and type-stripped sources here: a process of ours then starts with two thirds of the CPU time.
const COMPILE_CACHE = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.cache/compiled', import.meta.url)) }

const KEPT_LINES = 200

// A grandchild may hold the pipes open for ever; by then all that the child itself has written is here.
const LAST_LINES_MS = 500

/** Rejects when the command can't be started. */
export async function startProcess({ command, args = [], env, cwd, onLine }: ProcessOptions): Promise<RunningProcess> {
  const child = spawn(command, args, {
    env: { ...COMPILE_CACHE, ...(env ?? process.env) },
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${command} can't be started: ${error.code}`, { cause: error })
  })
  const pid = pidOf(child)
  const endGuard = killWhenWeAreGone(pid)

  const lines: string[] = []
  const watchers = observers.map((observe) => observe(env ?? process.env))
  const take = (line: string) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    for (const watch of watchers) watch?.(line)
    onLine?.(line)
  }
  readLines(child.stdout, take)
  readLines(child.stderr, take)

  const ended = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => {
      endGuard()
      const settle = () => resolve({ code, signal })
      const timer = setTimeout(settle, LAST_LINES_MS)
      child.once('close', () => {
        clearTimeout(timer)
        settle()
      })
    })
  })

  const kill = () => {
    signalGroup(pid, 'SIGKILL')
    return ended
  }
  return {
    pid,
    ended,
    output: () => lines.join('\n'),
    kill,
    async stop(graceMs) {
      child.kill('SIGTERM')
      const timer = setTimeout(kill, graceMs)
      return ended.finally(() => clearTimeout(timer))
    },
  }
}

/** No process of that id runs any more; one that nobody has waited for yet (a zombie) is gone too. */
export function isGone(pid: number): boolean {
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
    return false // No /proc here (macOS), or gone in this very moment.
  }
}

/**
 * A shell that waits for its stdin, which only we hold, to end: it does so even when we are killed with SIGKILL.
 * It ignores what a terminal sends, and has a process group of its own. Returns how to send it home.
 */
function killWhenWeAreGone(pid: number): () => void {
  const guard = spawn('sh', ['-c', `trap '' INT TERM HUP; read -r _; kill -9 -$0`, String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell (Windows) there is no guard: children end with us only when we end in order.
  guard.once('error', () => {})
  return () => guard.kill('SIGKILL')
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group is gone already.
  }
}

function readLines(stream: Readable, take: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', take)
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} has no process id`)
  return child.pid
}
