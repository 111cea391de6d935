/** Identifiers for generated code: of operations and of schemas. */
import { sha256 } from '../../lib/digest.ts'

export interface Identifiers {
  /** An identifier that no other has, also for generators that ignore case and underscores. */
  take(wish: string): string
}

const MAX_LENGTH = 100

/** `taken` are the identifiers that exist already. */
export function createIdentifiers(taken: Iterable<string>): Identifiers {
  /**
   * The number that was last appended to each identifier. Counting up from it finds a free one without trying all
   * numbers again.
   */
  const lastNumbers = new Map([...taken].map((identifier) => [folded(identifier), 1]))
  return {
    take(wish) {
      const key = folded(wish)
      let number = lastNumbers.get(key) ?? 1
      let identifier = wish
      while (lastNumbers.has(folded(identifier))) identifier = `${wish}_${++number}`
      lastNumbers.set(folded(identifier), 1).set(key, number)
      return identifier
    },
  }
}

/**
 * An identifier for each item, made of its names. A hash of the names is appended if a name is not an identifier, or if
 * several items differ only in case and underscores. Therefore no item changes the identifier of another one.
 */
export async function identify<Item>(
  items: readonly Item[],
  namesOf: (item: Item) => readonly string[],
  taken: Iterable<string>,
): Promise<{ item: Item; identifier: string }[]> {
  const identifiers = createIdentifiers(taken)
  const claims = Map.groupBy([...items.map(namesOf).filter(isPlain).map(wishOf), ...taken], folded)
  const wishes = items.map(async (item) => {
    const names = namesOf(item)
    const wish = wishOf(names)
    const isExact = isPlain(names) && wish.length <= MAX_LENGTH && claims.get(folded(wish))?.length === 1
    return { item, wish: isExact ? wish : `${wish.slice(0, MAX_LENGTH)}_${await shortHash(names)}` }
  })
  return (await Promise.all(wishes)).map(({ item, wish }) => ({ item, identifier: identifiers.take(wish) }))
}

function isPlain(names: readonly string[]): boolean {
  return names.every((name) => /^[A-Za-z]\w*$/.test(name))
}

function wishOf([first = '', ...others]: readonly string[]): string {
  return [startingWithLetter(sanitized(first)), ...others.map(sanitized)].join('_')
}

function sanitized(name: string): string {
  return name.replace(/\W+/g, '_')
}

function startingWithLetter(identifier: string): string {
  return /^[A-Za-z]/.test(identifier) ? identifier : `w_${identifier}`
}

function folded(identifier: string): string {
  return identifier.replaceAll('_', '').toLowerCase()
}

async function shortHash(names: readonly string[]): Promise<string> {
  return (await sha256(JSON.stringify(names))).slice(0, 8)
}
