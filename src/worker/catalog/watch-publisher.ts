/** How long the worker that published a catalog has been silent, as another worker sees it: without side effects. */

/** What a worker knows of the publisher after it has looked. */
export interface PublisherWatch {
  /** The identity of the publisher. */
  publisher: string
  /** The publisher's newest poll on the engine's clock; null if the engine lists none, as after its restart. */
  polledAtMs: number | null
  /** How long this has not changed. */
  silentMs: number
  /** When the worker looked, on its own clock. */
  lookedAtMs: number
}

// A poll lasts 60 s, so that the newest poll of a live worker is up to 52 s old.
const SILENT_SAME_MS = 60_000

// Later than all looks of a worker with the same content.
const SILENT_OTHER_MS = 100_000

// While the engine could not be reached, polls of the publisher could fail too.
const MAX_GAP_MS = 30_000

/** Clocks are not compared: only whether the publisher's newest poll has changed since the last look. */
export function watchPublisher(
  last: PublisherWatch | null,
  { publisher, polledAtMs, lookedAtMs }: Omit<PublisherWatch, 'silentMs'>,
): PublisherWatch {
  const isSilent = last !== null && last.publisher === publisher && last.polledAtMs === polledAtMs
  const silentMs = isSilent ? last.silentMs + Math.min(lookedAtMs - last.lookedAtMs, MAX_GAP_MS) : 0
  return { publisher, polledAtMs, silentMs, lookedAtMs }
}

/** Whether the publisher, if it is known, counts as gone for a worker that has the same catalog, or another one. */
export function isGone(watch: PublisherWatch | null, isSameCatalog: boolean): boolean {
  return watch !== null && watch.silentMs >= (isSameCatalog ? SILENT_SAME_MS : SILENT_OTHER_MS)
}
