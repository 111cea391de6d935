/** Which calls the replicas have sent to the engine for each operation, to tell who has done a thing twice. */

export interface SentCalls {
  add(method: string, message: Buffer): void
  /** For example `SignalWorkflowExecution at 12:00:00.123`, one for each call that contains the marker. */
  with(marker: string): readonly string[]
}

// `signal-4711-1-3-17`, as `newId` makes them.
const MARKER = /[a-z]+(?:-[a-z]+)*-\d+-\d+-\d+-\d+/g

export function createSentCalls(): SentCalls {
  const byMarker = new Map<string, string[]>()
  return {
    add(method, message) {
      const sent = `${method} at ${new Date().toISOString().slice(11, 23)}`
      for (const marker of new Set(message.toString('latin1').match(MARKER)))
        byMarker.set(marker, [...(byMarker.get(marker) ?? []), sent])
    },
    with: (marker) => byMarker.get(marker) ?? [],
  }
}
