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
