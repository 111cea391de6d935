/** The three forms of a token in the `Authorization` header. */

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
