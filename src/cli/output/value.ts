import { printable } from './printable.ts'

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

/** How long something took that has ended; null before. */
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
