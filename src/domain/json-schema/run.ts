/** One value against one schema: what it has cost so far, and what was found. */
import type { Issue } from '../errors.ts'

/** Where in the value: a JSON Pointer is made of it only when it is told. */
export interface Place {
  parent: Place | null
  key: string | number
}

/** What the keywords have looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Seen {
  keys: Set<string>
  items: Set<number>
}

/** Whether the value is as the schema wants it; what is not is told to `run`. */
export type Check = (value: unknown, at: Place, run: Run, seen: Seen | null) => boolean

/** Something wrong, at its place: most of them are those of an attempt, and nobody is told. */
export interface Refusal {
  at: Place
  message: string
}

export interface Run {
  work: Work
  refusals: Refusal[]
  depth: number
}

/** Thrown where a schema is broken, or asks for more than its input is worth. */
export class SchemaFault extends Error {}

/** Counts what is done in units of some 50 ns, and ends it when it gets too much: a clock would not do, workerd's stands still. */
export interface Work {
  spend(units: number): void
}

export function createWork(most: number): Work {
  let left = most
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new SchemaFault('it asks for too much work')
    },
  }
}

// A caller mends a few faults at a time; the rest shows when those are gone.
const MAX_REFUSALS = 20

/** Always false: what a check returns that refuses. */
export function refuse(run: Run, at: Place, message: string): false {
  run.work.spend(3)
  if (run.refusals.length < MAX_REFUSALS) run.refusals.push({ at, message })
  return false
}

/** Makes refusals of an attempt those of the whole. */
export function tell(run: Run, refusals: Refusal[]): void {
  run.refusals.push(...refusals.slice(0, MAX_REFUSALS - run.refusals.length))
}

/** Tries a check whose refusal is not yet one of the whole. */
export function attempt(check: Check, value: unknown, at: Place, run: Run, seen: Seen | null): Refusal[] | null {
  run.work.spend(12)
  const { refusals } = run
  run.refusals = []
  const fits = check(value, at, run, seen)
  const found = run.refusals
  run.refusals = refusals
  return fits ? null : found
}

export function toIssue({ at, message }: Refusal): Issue {
  return { path: pointer(at), message }
}

function pointer(at: Place): string {
  const parts: string[] = []
  for (let place: Place | null = at; place !== null; place = place.parent) {
    parts.push(String(place.key).slice(0, MAX_PART_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1'))
  }
  return `/${parts.reverse().join('/')}`
}

const MAX_PART_LENGTH = 200
