import { sha256 } from '../../src/lib/digest.ts'
import { canonicalJson } from '../../src/lib/json.ts'

/** A page token with a right hash over any position, which everybody can compute: decision 030. */
export async function forgeToken(request: unknown, position: string): Promise<string> {
  const hash = (await sha256(`page token\n${canonicalJson(request)}\n${position}`)).slice(0, 24)
  return Buffer.from(`${hash}${position}`).toString('base64url')
}

/** The token with another character near its end. One token in a few hundred already has any fixed ending. */
export function damageToken(token: string): string {
  return token.replace(/.(?=.{4}$)/, (character) => (character === 'A' ? 'B' : 'A'))
}
