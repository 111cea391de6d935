/**
 * Calls `act` for every item in order, at most `limit` at a time. Rejects with the first rejection;
 * calls already made continue.
 */
export async function mapConcurrent<T>(
  items: readonly T[],
  limit: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = items.values()
  const next = async (): Promise<void> => {
    for (const item of remaining) await act(item)
  }
  await Promise.all(Array.from({ length: limit }, next))
}
