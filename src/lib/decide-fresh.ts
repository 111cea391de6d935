/**
 * Decides from cached values, but never rejects because of a value that was read before the request arrived: before a
 * rejection, it decides again from fresh values.
 *
 * `decide` gets the time after which values must have been read (epoch milliseconds); 0 accepts any cached value.
 * `rejectedAt` returns when the oldest value behind a rejection was read; null if nothing is rejected.
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
