/** Whether a JSON value is an object: not null, not an array, and not a number kept as its digits (`JSON.rawJSON`). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
}
