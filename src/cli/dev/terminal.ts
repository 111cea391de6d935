import { styleText } from 'node:util'

const NAME_WIDTH = 6
const COLORS = { engine: 'magenta', worker: 'green', api: 'cyan' } as const

export type ProgramName = keyof typeof COLORS

/** Returns a function that prints a line after the program's name, in color on a terminal. */
export function printer(name: ProgramName): (line: string) => void {
  const prefix = styleText(COLORS[name], `${name.padEnd(NAME_WIDTH)} │`)
  return (line) => print(`${prefix} ${line}`)
}

export function print(message: string): void {
  process.stdout.write(`${message}\n`)
}

/** The reason of a shutdown that is not an error. */
export class DevInterruption extends Error {}

// The terminal sends Ctrl-C to npm and to this process, and npm forwards it: one Ctrl-C can arrive twice.
const DUPLICATE_SIGNAL_MS = 500
const PARENT_POLL_INTERVAL_MS = 500

/** Calls `interrupt` on a signal, or when npm, which would forward it, is killed. A second signal exits at once. */
export function whenInterrupted(interrupt: (why: DevInterruption) => void): void {
  let firstAt: number | null = null
  const onInterrupt = (why: string) => {
    if (firstAt !== null && Date.now() - firstAt > DUPLICATE_SIGNAL_MS) process.exit(130)
    firstAt ??= Date.now()
    interrupt(new DevInterruption(why))
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => onInterrupt(name))

  if (process.env.npm_lifecycle_event === undefined) return
  const npm = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(timer)
    interrupt(new DevInterruption('npm has exited'))
  }, PARENT_POLL_INTERVAL_MS)
}
