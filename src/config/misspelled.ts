/** Variables that have no effect because their name is wrong. */

/**
 * A sentence for each name in `names` that begins with `SERVICE_` or `ENGINE_`, is not `known`, and is close to one that is. Others
 * are left alone: both prefixes are common, and Kubernetes sets such variables itself (`ENGINE_SERVICE_HOST`).
 */
export function misspelled(names: readonly string[], known: ReadonlySet<string>): string[] {
  return names
    .filter((name) => /^(?:SERVICE|ENGINE)_/.test(name) && !known.has(name))
    .flatMap((name) => {
      const meant = nearest(name, known)
      return meant === null ? [] : [`${name} is not a Portico variable and has no effect; did you mean ${meant}?`]
    })
}

function nearest(name: string, known: ReadonlySet<string>): string | null {
  const close = [...known]
    .map((other) => ({ other, distance: distance(name, other) }))
    .filter(({ other, distance }) => distance <= allowed(other))
  const [first] = close.toSorted((one, two) => one.distance - two.distance)
  return first?.other ?? [...known].find((other) => lacksWordsOf(name, other)) ?? null
}

/** Two edits, or one in a short name like `SERVICE_PORT`, to which too many foreign names are close. */
function allowed(known: string): number {
  return known.slice(known.indexOf('_') + 1).length <= 4 ? 1 : 2
}

/** `SERVICE_AUTH_TOKEN` for `SERVICE_API_AUTH_TOKEN`. One word alone (`SERVICE_URL`) is more likely somebody else's variable. */
function lacksWordsOf(name: string, known: string): boolean {
  const [prefix, ...words] = name.split('_')
  const [knownPrefix, ...knownWords] = known.split('_')
  return prefix === knownPrefix && words.length >= 2 && words.every((word) => knownWords.includes(word))
}

/** Edits from one name to the other, underscores left out: a letter more, less or other, or two neighbours swapped. */
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
