/** The three forms of a token in the `Authorization` header, and their comparison with the tokens of operators. */

/**
 * What may be a token in `Basic <token>`, `Bearer <token>` or `Basic base64(<any user>:<token>)`. None for another
 * scheme.
 */
export function presentedTokens(authorization: string): string[] {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) +(.+)$/i.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials === '' ? [] : [credentials]
  return [credentials, ...passwordOf(credentials)]
}

function passwordOf(credentials: string): string[] {
  // atob throws for padding of the wrong length, but not for missing padding.
  const unpadded = credentials.replace(/=+$/, '')
  if (!/^[A-Za-z\d+/]+$/.test(unpadded) || unpadded.length % 4 === 1) return []
  const pair = atob(unpadded)
  return pair.includes(':') ? [pair.slice(pair.indexOf(':') + 1)] : []
}

const encoder = new TextEncoder()

export function toBytes(token: string): Uint8Array {
  return encoder.encode(token)
}

/**
 * Whether one of `presented` equals one of `expected`.
 *
 * Compares every presented sequence completely with every expected one. The time depends only on what was presented: it
 * does not reveal where a sequence differs, or how long the expected ones are.
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
