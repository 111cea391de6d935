/** Finds environment variables whose names look like misspelled names of ours. */

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
    .map((other) => ({ other, distance: distance(name, other) }))
    .filter(({ other, distance }) => distance <= maxDistance(other))
  const [first] = close.toSorted((one, two) => one.distance - two.distance)
  return first?.other ?? [...known].find((other) => omitsWordsOf(name, other)) ?? null
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

/** Damerau-Levenshtein distance, without underscores: letters inserted, deleted or replaced, and neighbours swapped. */
function distance(one: string, two: string): number {
  const [a, b] = [one.replaceAll('_', ''), two.replaceAll('_', '')]
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const next = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      next[column] = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + Number(!same),
        swapped ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = last
    last = next
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
