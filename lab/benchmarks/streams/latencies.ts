/** Latencies of items, from the call that publishes an item until a reader has it. */

/** The data of each item. */
export interface Sent {
  /** Epoch milliseconds; 0 for an item that is not measured. */
  at: number
}

export interface Latencies {
  /** Number of items by latency, in tenths of a millisecond. */
  counts: Map<number, number>
  received: number
  /** How often an item was not the one after the previous item of its reader. */
  gaps: number
}

export function noLatencies(): Latencies {
  return { counts: new Map(), received: 0, gaps: 0 }
}

/** Epoch milliseconds with fractions, for comparison with other processes. */
export function now(): number {
  return performance.timeOrigin + performance.now()
}

export function record(latencies: Latencies, { at }: Sent, receivedAt: number): void {
  if (at === 0) return
  const bucket = Math.max(0, Math.round((receivedAt - at) * 10))
  latencies.counts.set(bucket, (latencies.counts.get(bucket) ?? 0) + 1)
  latencies.received++
}

export function addLatencies(sum: Latencies, { counts, received, gaps }: Latencies): void {
  for (const [bucket, count] of counts) sum.counts.set(bucket, (sum.counts.get(bucket) ?? 0) + count)
  sum.received += received
  sum.gaps += gaps
}

/** The percentile in milliseconds. */
export function percentileMs({ counts, received }: Latencies, share: number): number {
  let left = share * received
  for (const [bucket, count] of [...counts].toSorted(([a], [b]) => a - b)) {
    left -= count
    if (left <= 0) return bucket / 10
  }
  return Number.NaN
}
