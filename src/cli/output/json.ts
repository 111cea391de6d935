import { paint } from './paint.ts'
import { printableLines } from './printable.ts'

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

/** The value as indented JSON for a terminal. Exact numbers (`JSON.rawJSON`) are kept. */
export function jsonForTerminal(value: unknown): string {
  const json = printableLines(JSON.stringify(value, null, 2))
  return json.replace(TOKENS, (token, string?: string, colon?: string) => {
    if (string === undefined) return paint('yellow', token)
    return colon === undefined ? paint('green', token) : paint('cyan', string) + colon
  })
}
