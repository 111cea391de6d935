/** Chance: which fault a message meets. */
import type { Random } from '../../lab/soak/random.ts'

/** Picks a fault, or null for none. `admit`: whether a picked fault is to happen. */
export function fateOf<Fault extends string>(
  random: Random,
  chances: readonly [number, Fault][],
  admit: (fault: Fault) => boolean,
): Fault | null {
  const fate = random.below(2 ** 32) / 2 ** 32
  let sum = 0
  for (const [chance, fault] of chances) {
    sum += chance
    if (fate < sum) return admit(fault) ? fault : null
  }
  return null
}
