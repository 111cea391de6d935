/** Runs the command line of the package, from its bundle. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { cacheFolder } from '../../src/cli/dev/servers/cache-folder.ts'

export interface CliOptions {
  env?: Record<string, string>
  /** Default: the system's folder for temporary files. */
  cwd?: string
  stdin?: string
}

export interface CliEnd {
  /** Null if a signal ended it. */
  code: number | null
  stdout: string
  stderr: string
}

/** Pipes, as in a script. */
export async function cli(args: string[], options: CliOptions = {}): Promise<CliEnd> {
  return run(process.execPath, [await entry(), ...args], options).ended
}

interface RunningCli {
  process: ChildProcessWithoutNullStreams
  ended: Promise<CliEnd>
}

// Of Python's standard library, which all systems of CI have. It exits like its child.
const TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

export interface TerminalOptions extends CliOptions {
  /** `act` is called once, when the output contains the text. */
  seen?: { text: string; act(type: (keys: string) => void): void }
  /** How wide the terminal is. Default: it does not say. */
  columns?: number
}

export const CTRL_C = '\u0003'

/** On a terminal, to which stdout and stderr go alike. */
export async function cliOnTerminal(args: string[], { seen, columns = 0, ...options }: TerminalOptions = {}) {
  const command = ['sh', '-c', `stty cols ${columns} && exec "$@"`, 'sh', process.execPath, await entry(), ...args]
  const { process: terminal, ended } = run('python3', ['-c', TERMINAL, ...command], { ...options, keepStdin: true })
  let output = ''
  terminal.stdout.on('data', (chunk) => {
    const before = output
    output += chunk
    if (seen === undefined || !output.includes(seen.text) || before.includes(seen.text)) return
    seen.act((keys) => void terminal.stdin.write(keys))
  })
  const { code, stdout } = await ended
  return { code, output: stdout.replaceAll('\r\n', '\n') }
}

async function entry(): Promise<string> {
  return join(await ensureBundles(), 'cli.js')
}

function run(
  command: string,
  args: string[],
  { env, cwd = tmpdir(), stdin = '', keepStdin = false }: CliOptions & { keepStdin?: boolean },
): RunningCli {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, args, {
    cwd,
    env: { PATH, HOME, TERM: 'xterm-256color', NODE_COMPILE_CACHE: join(cacheFolder(), 'compiled'), ...env },
  })
  if (!keepStdin) child.stdin.end(stdin)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const ended = Promise.all([exited, text(child.stdout), text(child.stderr)])
  return { process: child, ended: ended.then(([code, stdout, stderr]) => ({ code, stdout, stderr })) }
}
