import { printableJson } from './printable.ts'

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
