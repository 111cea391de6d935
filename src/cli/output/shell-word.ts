/** The value as one word of a POSIX shell. */
export function shellWord(value: string): string {
  return /^[\w.:/@%+=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
}
