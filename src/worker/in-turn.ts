/** A few at a time, in their order. Rejects with the first that does; the others go on. */
export async function inTurn<T>(items: readonly T[], atOnce: number, act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const next = async (): Promise<void> => {
    for (const item of left) await act(item)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}
