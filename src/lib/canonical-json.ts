/**
 * JSON as RFC 8785 has it: no spaces, the keys of each object in the order of their UTF-16 code units.
 *
 * Written key by key, for an object of ours would put keys like "10" first whatever we do. Keys without a value are left out.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}
