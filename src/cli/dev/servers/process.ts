/** Child processes that are killed when this process exits for any reason. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterRunning, sleep } from '../../../shared/lib/abort.ts'
import { cacheFolder, runsFromSources } from './cache-folder.ts'

export interface ProcessOptions {
  command: string
  args?: string[]
  /** The whole environment. Default: that of this process. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Called with each line of stdout and stderr. */
  onLine?: (line: string) => void
}

export interface Ended {
  /** Null if a signal ended the process. */
  code: number | null
  signal: NodeJS.Signals | null
}

export interface RunningProcess {
  /** Also the id of its process group, so Ctrl-C in the terminal does not reach it. */
  pid: number
  /** Resolves when the process has exited for any reason. Never rejects. */
  ended: Promise<Ended>
  /** The last lines of stdout and stderr. */
  output(): string
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<Ended>
  /** Sends SIGKILL to the process and its process group. */
  kill(): Promise<Ended>
}

// Node keeps the compiled and type-stripped sources here:
// a process of ours then starts with two thirds of the CPU time.
const COMPILE_CACHE = runsFromSources ? { NODE_COMPILE_CACHE: join(cacheFolder(), 'compiled') } : {}

const KEPT_LINES = 200

const GROUP_EVERY_MS = 20

// A grandchild may keep the pipes open. After this running time, this process has read all output of the child itself.
const LAST_LINES_MS = 500

/** Rejects if the command cannot be started. */
export async function startProcess({ command, args = [], env, cwd, onLine }: ProcessOptions): Promise<RunningProcess> {
  const child = spawn(command, args, {
    env: { ...COMPILE_CACHE, ...(env ?? process.env) },
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Not after the event `spawn`: this process may exit before that.
  const stopGuard = child.pid === undefined ? () => {} : killWhenParentExits(child.pid)
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${command} cannot be started: ${error.code}`, { cause: error })
  })
  const pid = pidOf(child)

  const lines: string[] = []
  const handleLine = (line: string) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    onLine?.(line)
  }
  readLines(child.stdout, handleLine)
  readLines(child.stderr, handleLine)

  const ended = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => {
      stopGuard()
      const settle = () => resolve({ code, signal })
      const stopWaiting = afterRunning(LAST_LINES_MS, settle)
      child.once('close', () => {
        stopWaiting()
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
      const deadlineAt = Date.now() + graceMs
      child.kill('SIGTERM')
      const timer = setTimeout(kill, graceMs)
      const end = await ended.finally(() => clearTimeout(timer))
      // A shell that waits for a command does not forward the signal.
      signalGroup(pid, 'SIGTERM')
      while (isGroupRunning(pid) && Date.now() < deadlineAt) await sleep(GROUP_EVERY_MS)
      signalGroup(pid, 'SIGKILL')
      return end
    },
  }
}

/** Aborted when the process has exited. The reason has `name`, the exit code or signal, and the output. */
export function exitSignal({ ended, output }: Pick<RunningProcess, 'ended' | 'output'>, name: string): AbortSignal {
  const exited = new AbortController()
  void ended.then(({ code, signal }) => exited.abort(new Error(`${name} exited with ${code ?? signal}:\n${output()}`)))
  return exited.signal
}

/**
 * Starts a shell that kills the process group when its stdin ends. Only this process holds that pipe, so it ends even
 * after a SIGKILL. The shell ignores signals from a terminal and has its own process group. Returns a function that
 * stops it.
 */
function killWhenParentExits(pid: number): () => void {
  const guard = spawn('sh', ['-c', `trap '' INT TERM HUP; read -r _; kill -9 -$0`, String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell (Windows) there is no guard, and children outlive a killed parent.
  guard.once('error', () => {})
  return () => guard.kill('SIGKILL')
}

function isGroupRunning(pid: number): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole process group has already exited.
  }
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine)
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} has no process id`)
  return child.pid
}
