/** The text with all but `A-Z a-z 0-9 - _ . ~` percent-encoded: what encodeURIComponent leaves out, signatures count as encoded. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
