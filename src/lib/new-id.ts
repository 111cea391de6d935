/** A new unique id: a UUID of version 7. Ids sort by the time of their creation. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  // After the version, a UUID of version 4 has the same format.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}
