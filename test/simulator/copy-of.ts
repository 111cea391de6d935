/** A copy of a message: sender and receiver share no objects. `structuredClone` takes several times as long. */
export function copyOf<T>(value: T): T
export function copyOf(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`A message has a ${typeof value}`)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  if (value instanceof Uint8Array) return new Uint8Array(value)
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('A message has an object of a class')
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) copy[key] = copyOf((value as Record<string, unknown>)[key])
  return copy
}
