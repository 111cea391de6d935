/** A new unique id: a UUID of version 7. Ids sort by the time of their creation. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  // After the version, a UUID of version 4 has the same format.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}

/** When the id was created (epoch milliseconds), as the engine's run ids are when they start. Null for another UUID. */
export function creationTimeOf(id: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(id) ?? []
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16)
}
