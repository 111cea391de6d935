import { styleText } from 'node:util'

const NAME_WIDTH = 6
const COLOURS = { engine: 'magenta', worker: 'green', api: 'cyan' } as const

export type ProgramName = keyof typeof COLOURS

/** Prints lines with the program's name before each; in colour where somebody looks at a terminal. */
export function printer(name: ProgramName): (line: string) => void {
  const prefix = styleText(COLOURS[name], `${name.padEnd(NAME_WIDTH)} │`)
  return (line) => print(`${prefix} ${line}`)
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
