import { sha256 } from '../../src/shared/lib/digest.ts'
import { canonicalJson } from '../../src/shared/lib/json.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'

/** A page token with a right hash over any position, which everybody can compute: decision 030. */
export async function forgeToken(request: unknown, position: string): Promise<string> {
  const hash = (await sha256(`page token\n${canonicalJson(request)}\n${position}`)).slice(0, 24)
  return Buffer.from(`${hash}${position}`).toString('base64url')
}

/** The token with another character near its end. One token in a few hundred already has any fixed ending. */
export function damageToken(token: string): string {
  return token.replace(/.(?=.{4}$)/, (character) => (character === 'A' ? 'B' : 'A'))
}

/** The position in a token. */
export function positionIn(token: string) {
  return JSON.parse(Buffer.from(token, 'base64url').toString().slice(24))
}

// Each is a request.
const CHANGES = 48

/** The engine's token with one bit of a byte changed, in bytes all over it. */
export function changedBytes(token: string): string[] {
  const { length } = Buffer.from(token, 'base64')
  return Array.from({ length: CHANGES }, (_, change) => {
    const bytes = Buffer.from(token, 'base64')
    const at = Math.floor((change * length) / CHANGES)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (change % 7))
    return bytes.toString('base64')
  })
}

/** The answers to requests with these tokens, a few at a time: of many at once the engine answers some too late. */
export async function answersTo<T>(tokens: readonly string[], send: (token: string) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  await mapConcurrent(tokens, 4, async (token) => void answers.push(await send(token)))
  return answers
}
