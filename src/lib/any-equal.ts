/**
 * Whether one of `presented` equals one of `expected`, all of the same length.
 *
 * Reads every byte of every pair: how long it takes does not reveal which one differs, nor where.
 */
export function anyEqual(presented: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): boolean {
  let found = 0
  for (const one of presented) {
    for (const other of expected) {
      let difference = 0
      for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
      found |= Number(difference === 0)
    }
  }
  return found === 1
}
