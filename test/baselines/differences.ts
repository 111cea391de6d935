/** Differences between the last release and today, and which of them the changelog must announce. */

export interface Difference {
  /** Whether a program that works with the last release can stop working. */
  breaks: boolean
  /** What differs, as the changelog names it. */
  name: string
  how: string
}

export type Report = (difference: Difference) => void

/** Collects differences. The same one can be found in many places, such as a schema of several operations. */
export function collect(compare: (report: Report) => void): Difference[] {
  const found = new Map<string, Difference>()
  compare((difference) => found.set(verdictOf(difference), difference))
  return [...found.values()]
}

export function verdictOf({ breaks, name, how }: Difference): string {
  return `${breaks ? 'breaks' : 'adds'}: ${name}: ${how}`
}

interface Named<T> {
  /** How the changelog calls the one with this key. */
  nameOf(key: string): string
  /** Compares what exists in both. */
  both(before: T, now: T, name: string): void
  /** Whether a new one breaks programs that do not know it. Default: never. */
  isDemand?(added: T): boolean
}

/** What was removed breaks, what is new does not. */
export function compareByKey<T>(
  before: Readonly<Record<string, T>> | undefined,
  now: Readonly<Record<string, T>> | undefined,
  { nameOf, both, isDemand = () => false }: Named<T>,
  report: Report,
): void {
  const rest = new Map(Object.entries(now ?? {}))
  for (const [key, value] of Object.entries(before ?? {})) {
    const next = rest.get(key)
    if (next === undefined) report({ breaks: true, name: nameOf(key), how: 'is removed' })
    else both(value, next, nameOf(key))
    rest.delete(key)
  }
  for (const [key, value] of rest) {
    const breaks = isDemand(value)
    report({ breaks, name: nameOf(key), how: breaks ? 'is new and required' : 'is new' })
  }
}

/** Compares lists with lines such as `SERVICE_PORT = 3001`. A changed value breaks. */
export function compareLists(before: string, now: string): Difference[] {
  return collect((report) =>
    compareByKey(
      parseList(before),
      parseList(now),
      {
        nameOf: (key) => key,
        isDemand: (value) => value.startsWith('required'),
        both(value, next, name) {
          if (value !== next) report({ breaks: true, name, how: `was "${value}" and is "${next}"` })
        },
      },
      report,
    ),
  )
}

function parseList(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line) => /^(.*?)(?: = (.*))?$/.exec(line)?.slice(1) ?? []).map(([key, value]) => [key, value ?? '']),
  )
}

/** The breaking differences that the changelog does not announce for its newest version. */
export function unannounced(differences: readonly Difference[], changelog: string): string[] {
  const [, newest = ''] = changelog.split(/^## \[/m)
  const announced = newest.split('\n').filter((line) => line.startsWith('- Breaking: '))
  return differences
    .filter(({ breaks, name }) => breaks && !announced.some((line) => line.includes(`\`${name}\``)))
    .map(verdictOf)
}
