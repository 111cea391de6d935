import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { paint } from './paint.ts'

const GAP = '  '

/** Columns under their titles. Cells must be printable. */
export function table(titles: string[], rows: string[][]): string {
  return columns([titles.map((title) => paint('bold', title)), ...rows])
}

/** Names and values in two columns; a pair without a value is left out. */
export function pairs(entries: [name: string, value: string | null][]): string {
  return columns(entries.flatMap(([name, value]) => (value === null ? [] : [[paint('dim', name), value]])))
}

function columns(rows: string[][]): string {
  const count = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows
    .map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))))
    .map((row) => row.join(GAP).trimEnd())
    .join('\n')
}

function widthOf(cell: string): number {
  return stringWidth(stripVTControlCharacters(cell))
}
