const MAX_HEADER_VALUE = 200

/** The text as a short header value in visible ASCII. */
export function toHeaderValue(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/g, '?')
  return ascii.length > MAX_HEADER_VALUE ? `${ascii.slice(0, MAX_HEADER_VALUE - 3)}...` : ascii
}
