/** Finds the name that somebody may have meant. */

import { editDistance } from './edit-distance.ts'

/** The known name most similar to `name`, with at most two edits, and one for each three letters; null without one. */
export function nearest(name: string, known: readonly string[]): string | null {
  const [first] = known
    .map((other) => ({ other, edits: editsTo(name, other) }))
    .filter(({ edits }) => edits !== null)
    .toSorted((one, two) => Number(one.edits) - Number(two.edits))
  return first?.other ?? null
}

/** How many edits make `name` the known one, whatever the case; null if it is another word. */
export function editsTo(name: string, known: string): number | null {
  const max = Math.min(2, Math.floor(known.length / 3))
  // A request chooses the name, and the comparison takes quadratic time.
  if (Math.abs(name.length - known.length) > max) return null
  const edits = editDistance(name.toLowerCase(), known.toLowerCase())
  return edits > max ? null : edits
}
