/** What is written to a terminal: colors, characters that are safe, documents, and what a command waits for. */
import { styleText } from 'node:util'

export type Style = Parameters<typeof styleText>[0]

/** Styles the string if stdout is a terminal that shows colors, and `NO_COLOR` and `FORCE_COLOR` allow it. */
export function paint(style: Style, value: string): string {
  return styleText(style, value, { stream: process.stdout })
}

const STATUS_STYLES = new Map<string, Style>([
  ['completed', 'green'],
  ['continued', 'green'],
  ['running', 'cyan'],
  ['paused', 'yellow'],
  ['canceled', 'yellow'],
  ['failed', 'red'],
  ['terminated', 'red'],
  ['timed_out', 'red'],
])

/** All statuses of runs. */
export const STATUS_NAMES = [...STATUS_STYLES.keys()]

export function paintStatus(status: string): string {
  return paint(STATUS_STYLES.get(status) ?? 'dim', status)
}

// Control characters, and those that change the direction of text. A value of a workflow must not move the cursor, hide
// text or change the title of the terminal.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The string on one line of a terminal, with escapes for characters that would affect the terminal. */
export function printable(value: string): string {
  return value.replace(UNPRINTABLE, escaped)
}

/** The same for several lines. */
export function printableLines(value: string): string {
  return value.split('\n').map(printable).join('\n')
}

/** A JSON document with the same value. White space between its tokens is kept. */
function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) => ('\t\n\r'.includes(character) ? character : escaped(character)))
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export interface OutputFlags {
  /** Prints JSON on a terminal too. */
  json?: boolean
  /** Prints the view of a terminal in a pipe too. */
  text?: boolean
}

/** Whether stdout is for programs. */
export function printsJson({ json, text }: OutputFlags): boolean {
  return json === true || (!process.stdout.isTTY && text !== true)
}

/** One JSON document on stdout, as the service sent it. On a terminal, characters that would affect it are escaped. */
export function printDocument(json: string): void {
  process.stdout.write(`${process.stdout.isTTY ? printableJson(json) : json}\n`)
}

/** For people, on stdout. */
export function printLines(lines: string): void {
  process.stdout.write(`${lines}\n`)
}

/** For people, on stderr. */
export function printNote(lines: string): void {
  process.stderr.write(`${lines}\n`)
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

/** The value as indented JSON for a terminal. Exact numbers (`JSON.rawJSON`) are kept. */
export function jsonForTerminal(value: unknown): string {
  const json = printableLines(JSON.stringify(value, null, 2))
  return json.replace(TOKENS, (token, string?: string, colon?: string) => {
    if (string === undefined) return paint('yellow', token)
    return colon === undefined ? paint('green', token) : paint('cyan', string) + colon
  })
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
// For terminals that do not report their width.
const DEFAULT_COLUMNS = 80
const CLEAR_LINE = '\r\u001b[K'

/**
 * Shows on a terminal's stderr what the command waits for, until the returned function is called. `note` is called for
 * each update of the line.
 */
export function showWaiting(what: string, note: () => string = () => ''): () => void {
  const { stderr } = process
  if (!stderr.isTTY) return () => {}
  const beganAt = Date.now()
  const draw = () => {
    const elapsedMs = Date.now() - beganAt
    const frame = FRAMES[Math.floor(elapsedMs / FRAME_MS) % FRAMES.length] ?? ''
    // A line that wraps could not be cleared.
    const line = printable(`${what} (${Math.floor(elapsedMs / 1000)} s)${note()}`).slice(
      0,
      (stderr.columns || DEFAULT_COLUMNS) - 3,
    )
    stderr.write(`${CLEAR_LINE}${styleText('cyan', frame, { stream: stderr })} ${line}`)
  }
  const timer = setInterval(draw, FRAME_MS)
  return () => {
    clearInterval(timer)
    stderr.write(CLEAR_LINE)
  }
}
