/** One value against one schema: what it has cost so far, and what was found. */
import { toPointer } from '../lib/json-pointer.ts'

/** One thing wrong with a value; `path` is a JSON Pointer. */
export interface Issue {
  path: string
  message: string
}

/** Where in the value: a JSON Pointer is made of it only when it is told. */
export interface Place {
  parent: Place | null
  key: string | number
}

/** What the keywords have looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Seen {
  /** A keyword was skipped that might have looked at anything. */
  all: boolean
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

/** Thrown for a keyword that can't be evaluated: it is broken. */
export class SchemaFault extends Error {}

/** Thrown for a keyword that is valid JSON Schema but that this evaluator does not support. */
export class Unsupported extends SchemaFault {}

/** Thrown where a schema refers to itself for the very same value. */
export class Circle extends Error {}

/** Thrown when to compile or to check takes more work than it is worth: that ends all of it. */
export class TooMuchWork extends Error {}

/**
 * Whether a keyword holds where workers disagree: their languages count characters and round numbers in their own ways.
 *
 * What one of them may accept is accepted. Where nothing may be skipped (`not` and the like) that could refuse too much: there it can't be said.
 */
export function decide(certain: boolean, possible: boolean, exact: boolean): boolean {
  if (exact && certain !== possible) throw new Unsupported('it depends on the language of the worker')
  return possible
}

/** Counts what is done in units of some 50 ns, and ends it when it gets too much: a clock would not do, workerd's stands still. */
export interface Work {
  spend(units: number): void
}

export function createWork(most: number): Work {
  let left = most
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new TooMuchWork('it asks for too much work')
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

const MAX_KEY_LENGTH = 200

function pointer(at: Place): string {
  const keys: string[] = []
  for (let place: Place | null = at; place !== null; place = place.parent) {
    keys.push(String(place.key).slice(0, MAX_KEY_LENGTH))
  }
  return toPointer(keys.reverse())
}
