// Upper bounds for V8, with some room for other engines.
const OBJECT_BYTES = 64
const MEMBER_BYTES = 16
const STRING_BYTES = 24

/**
 * About how many bytes of memory a value of JSON takes; any number above `limit` for a value that takes more than that.
 */
export function memoryOf(value: unknown, limit: number): number {
  let bytes = 0
  // Not recursive: values may be nested deeper than the call stack.
  const pending = [value]
  while (pending.length > 0 && bytes <= limit) {
    const next = pending.pop()
    if (typeof next === 'string') bytes += STRING_BYTES + 2 * next.length
    if (typeof next !== 'object' || next === null) continue
    const members = Array.isArray(next) ? next : [...Object.keys(next), ...Object.values(next)]
    bytes += OBJECT_BYTES + MEMBER_BYTES * members.length
    if (bytes <= limit) for (const member of members) pending.push(member)
  }
  return bytes
}
