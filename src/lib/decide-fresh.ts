/**
 * Decides from cached values, and from fresh ones before a rejection: what is rejected is never rejected because of
 * something that was read before the request arrived.
 *
 * `decide` gets the time since when a value must have been read (epoch milliseconds); 0 takes any cached value.
 * `rejectedAt` returns when the oldest value that a rejection is based on was read; null if nothing is rejected.
 */
export async function decideFresh<T>(
  decide: (freshSince: number) => Promise<T>,
  rejectedAt: (decision: T) => number | null,
  now: () => number = Date.now,
): Promise<T> {
  const arrivedAt = now()
  const cached = await decide(0)
  const readAt = rejectedAt(cached)
  return readAt !== null && readAt < arrivedAt ? decide(arrivedAt) : cached
}
