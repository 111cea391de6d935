/** Runs `act` on every item, at most `limit` at a time, in order. Rejects with the first rejection; what has begun continues. */
export async function mapConcurrent<T>(
  items: readonly T[],
  limit: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const next = async (): Promise<void> => {
    for (const item of left) await act(item)
  }
  await Promise.all(Array.from({ length: limit }, next))
}
