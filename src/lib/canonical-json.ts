/**
 * Canonical JSON (RFC 8785): no spaces, and object keys sorted by their UTF-16 code units.
 * Omits keys whose value is undefined.
 *
 * It writes the keys itself, because a sorted JavaScript object would still list keys like "10" first.
 * Libraries for RFC 8785 do not know `JSON.rawJSON`.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}
