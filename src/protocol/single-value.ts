/** Several values as one: the one value, null for none, the array for several. */
export function toSingleValue(values: unknown[]): unknown {
  return values.length > 1 ? values : (values[0] ?? null)
}
