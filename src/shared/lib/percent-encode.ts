/**
 * Percent-encodes everything but `A-Z a-z 0-9 - _ . ~`, as AWS signatures require;
 * encodeURIComponent leaves out `!'()*`.
 */
export function percentEncode(string: string): string {
  return encodeURIComponent(string).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Null for text that is not percent-encoded UTF-8, such as a bare percent sign. */
export function percentDecode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}
