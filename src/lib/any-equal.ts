/**
 * Whether one of `presented` equals one of `expected`.
 *
 * Reads each presented sequence to its end for each expected one: how long it takes depends only on what was presented,
 * and does not reveal which one differs, where, or how long the expected ones are.
 */
export function anyEqual(presented: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): boolean {
  let found = 0
  for (const one of presented) {
    for (const other of expected) {
      let difference = one.length ^ other.length
      for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at % other.length] ?? 0)
      found |= Number(difference === 0)
    }
  }
  return found === 1
}
