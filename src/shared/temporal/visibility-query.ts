/** A string literal for a visibility query (list filter): https://docs.temporal.io/list-filter */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
