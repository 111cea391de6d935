/** Independent streams of random choices from one seed, so that one more choice in one part changes no other part. */
import { createRandom, type Random } from '../../lab/soak/random.ts'

/** The stream of this part of the simulation, such as `network`. */
export function randomOf(seed: number, part: string): Random {
  let mixed = seed >>> 0
  for (const character of part) mixed = (Math.imul(mixed ^ character.charCodeAt(0), 0x01000193) + 1) >>> 0
  return createRandom(mixed)
}

const HEX = '0123456789abcdef'

/** A string of hexadecimal digits. */
export function hexOf({ below }: Random, digits: number): string {
  let hex = ''
  while (hex.length < digits) hex += HEX[below(16)]
  return hex
}
