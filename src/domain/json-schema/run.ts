/** One value against one schema: what it has cost so far, and what was found. */
import type { Issue } from '../errors.ts'

/** Where in the value; a JSON Pointer is made of it only when there is something to tell. */
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

export interface Run {
  work: Work
  issues: Issue[]
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
const MAX_ISSUES = 20

/** Always false: what a check returns that refuses. */
export function refuse(run: Run, at: Place, message: string): false {
  run.work.spend(3)
  if (run.issues.length < MAX_ISSUES) run.issues.push({ path: pointer(at), message })
  return false
}

/** Makes issues of an attempt those of the whole. */
export function tell(run: Run, issues: Issue[]): void {
  run.issues.push(...issues.slice(0, MAX_ISSUES - run.issues.length))
}

/** Tries a check whose refusal is not yet one of the whole. */
export function attempt(check: Check, value: unknown, at: Place, run: Run, seen: Seen | null): Issue[] | null {
  run.work.spend(12)
  const { issues } = run
  run.issues = []
  const fits = check(value, at, run, seen)
  const found = run.issues
  run.issues = issues
  return fits ? null : found
}

export function pointer(at: Place): string {
  const parts: string[] = []
  for (let place: Place | null = at; place !== null; place = place.parent) {
    parts.push(String(place.key).slice(0, MAX_PART_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1'))
  }
  return `/${parts.reverse().join('/')}`
}

const MAX_PART_LENGTH = 200
