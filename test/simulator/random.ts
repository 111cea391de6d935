/** Independent streams of random choices from one seed, so that one more choice in one part changes no other part. */
import { createRandom, type Random } from '../../lab/soak/random.ts'

/** The stream of this part of the simulation, such as `network`. */
export function randomOf(seed: number, part: string): Random {
  let mixed = seed >>> 0
  for (const character of part) mixed = (Math.imul(mixed ^ character.charCodeAt(0), 0x01000193) + 1) >>> 0
  return createRandom(mixed)
}

/** A string of hexadecimal digits. */
export function hexOf({ below }: Random, digits: number): string {
  return Array.from({ length: digits }, () => below(16).toString(16)).join('')
}
