/** JSON with integers of any size: one that a number cannot hold exactly is a `bigint`. */

export type ParseJson = (json: string) => unknown

/** `JSON.parse`. On runtimes without source text access (`JSON.rawJSON`) large integers are rounded. */
export function parseWithBigInts(text: string): unknown {
  // A reviver is called for every value, which costs more than the parsing.
  return /\d{16}/.test(text) ? JSON.parse(text, largeInteger) : JSON.parse(text)
}

/** `JSON.stringify`. Throws a `TypeError` for a `bigint` on runtimes without `JSON.rawJSON`. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, field) =>
    typeof field === 'bigint' && 'rawJSON' in JSON ? JSON.rawJSON(String(field)) : field,
  )
}

function largeInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? ''
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value
}
