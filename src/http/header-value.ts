const MAX_HEADER_VALUE = 200

/** A text as the value of a header: visible ASCII, and short. */
export function toHeaderValue(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/g, '?')
  return ascii.length > MAX_HEADER_VALUE ? `${ascii.slice(0, MAX_HEADER_VALUE - 3)}...` : ascii
}
