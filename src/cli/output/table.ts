/** Tables, and the cells in them. */
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { paint, printable } from './terminal.ts'

const GAP = '  '
// Enough to recognize the content.
const MIN_LAST_WIDTH = 12

/**
 * Columns under their titles. Cells must be printable. If lines are wider than `maxWidth`, the last column is
 * truncated.
 */
export function table(titles: string[], rows: string[][], maxWidth = Number.POSITIVE_INFINITY): string {
  const cells = [titles.map((title) => paint('bold', title)), ...rows]
  const excess = widthOf(rowsOf(cells)) - maxWidth
  if (excess <= 0) return rowsOf(cells)
  const last = titles.length - 1
  const width = Math.max(...cells.map((row) => widthOf(row[last] ?? '')))
  const target = Math.max(MIN_LAST_WIDTH, width - excess)
  return rowsOf(cells.map((row) => row.map((cell, at) => (at === last ? shorten(cell, target) : cell))))
}

/** Names and values in two columns; a pair without a value is left out. */
export function pairs(entries: [name: string, value: string | null][]): string {
  return rowsOf(entries.flatMap(([name, value]) => (value === null ? [] : [[paint('dim', name), value]])))
}

/** Aligns cells in columns, each at least as wide as its entry in `minWidths`. */
export function rowsOf(rows: string[][], minWidths: readonly number[] = []): string {
  const count = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(minWidths[column] ?? 0, ...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows
    .map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))))
    .map((row) => row.join(GAP).trimEnd())
    .join('\n')
}

/** The width of the widest line, in columns of a terminal. */
export function widthOf(lines: string): number {
  return Math.max(
    ...stripVTControlCharacters(lines)
      .split('\n')
      .map((line) => stringWidth(line)),
  )
}

/** A cell without colors in at most `width` columns; with an ellipsis if it was wider. */
export function shorten(cell: string, width: number): string {
  if (widthOf(cell) <= width) return cell
  let kept = ''
  for (const character of cell) {
    if (widthOf(kept + character) >= width) break
    kept += character
  }
  return `${kept}…`
}

/** A field of a response on one line; null if it has no value. */
export function fieldText(field: unknown): string | null {
  if (field === null || field === undefined) return null
  return printable(typeof field === 'string' ? field : JSON.stringify(field))
}

/** The same for the cell of a table, which may be empty. */
export function cellOf(field: unknown): string {
  return fieldText(field) ?? ''
}

/** `2026-11-21 02:55:53`, in UTC like all times of the API; empty if `time` is missing. */
export function timeCell(time: string | null | undefined): string {
  return cellOf(time).replace(/^(\S{10})T(\S{8})\S*$/, '$1 $2')
}

/** `2026-11-21 02:55:53 UTC`; null if `time` is missing. */
export function zonedTime(time: string | null | undefined): string | null {
  const cell = timeCell(time)
  return cell === '' ? null : `${cell} UTC`
}

/** How long the run took; null while it is open. */
export function durationOf({ startedAt, completedAt }: { startedAt: string | null; completedAt: string | null }) {
  if (startedAt === null || completedAt === null) return null
  return durationCell(Date.parse(completedAt) - Date.parse(startedAt))
}

/** Milliseconds as people write them: `250 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationCell(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
