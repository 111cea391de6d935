/** Finds environment variables whose names look like misspelled names of ours. */

import { editDistance } from '../lib/edit-distance.ts'

/**
 * A warning for each unknown name that begins with `SERVICE_` or `ENGINE_` and is similar to a known one. Other unknown
 * names get no warning: both prefixes are common, and Kubernetes sets such variables itself (`ENGINE_SERVICE_HOST`).
 */
export function misspelled(names: readonly string[], known: ReadonlySet<string>): string[] {
  return names
    .filter((name) => /^(?:SERVICE|ENGINE)_/.test(name) && !known.has(name))
    .flatMap((name) => {
      const similar = mostSimilar(name, known)
      return similar === null ? [] : [`${name} is not a Portico variable and has no effect; did you mean ${similar}?`]
    })
}

function mostSimilar(name: string, known: ReadonlySet<string>): string | null {
  const close = [...known]
    .map((other) => ({ other, distance: editDistance(withoutUnderscores(name), withoutUnderscores(other)) }))
    .filter(({ other, distance }) => distance <= maxDistance(other))
  const [first] = close.toSorted((one, two) => one.distance - two.distance)
  return first?.other ?? [...known].find((other) => omitsWordsOf(name, other)) ?? null
}

function withoutUnderscores(name: string): string {
  return name.replaceAll('_', '')
}

/** Two edits; one for a short name like `SERVICE_PORT`, which many unrelated names resemble. */
function maxDistance(known: string): number {
  return known.slice(known.indexOf('_') + 1).length <= 6 ? 1 : 2
}

/**
 * Whether words of `known` are missing in `name`, as in `SERVICE_AUTH_TOKEN` for `SERVICE_API_AUTH_TOKEN`. At least two
 * words must remain: `SERVICE_URL` probably belongs to another program.
 */
function omitsWordsOf(name: string, known: string): boolean {
  const [prefix, ...words] = name.split('_')
  const [knownPrefix, ...knownWords] = known.split('_')
  return prefix === knownPrefix && words.length >= 2 && words.every((word) => knownWords.includes(word))
}
