/**
 * The items that signals have published in a stream, read from a run's history: for the end of a closed run whose
 * workflow has no query for them.
 */
import {
  isPollUpdateId,
  isPublishInput,
  type PublishInput,
  STREAM_PUBLISH,
  type WireItem,
} from '../../protocol/stream.ts'
import type { HistoryEvent } from '../outcome.ts'
import type { Payload } from '../payload.ts'

export interface StreamLog {
  /** Adds the next events of the history. `decode` decodes the arguments of signals. */
  add(events: readonly HistoryEvent[], decode: (payloads: Payload[]) => Promise<unknown[]>): Promise<void>
  /** The items from the offset up to `head`, the offset after the last item; null if the history does not have them. */
  itemsUpTo(head: number): readonly WireItem[] | null
}

/** `from` is the offset after the last item that polls have returned. */
export function createStreamLog(from: number): StreamLog {
  // As the SDKs do: a batch that a publisher sends again is ignored.
  const sequences = new Map<string, number>()
  // How many items signals have published, those after the first `from` of them, and those after the last poll.
  let total = 0
  const rest: WireItem[] = []
  let tail: WireItem[] = []

  function publish({ publisher_id: publisher, sequence, items: published }: PublishInput): void {
    if (publisher) {
      if (sequence <= (sequences.get(publisher) ?? 0)) return
      sequences.set(publisher, sequence)
    }
    for (const item of published) {
      if (total++ >= from) rest.push(item)
      tail.push(item)
    }
  }

  return {
    async add(events, decode) {
      const signals = events.flatMap((event) => argumentOf(event) ?? [])
      const inputs = signals.length === 0 ? [] : await decode(signals)
      for (const event of events) {
        const input = argumentOf(event) === null ? undefined : inputs.shift()
        if (isPublishInput(input)) publish(input)
        if (isAnsweredPoll(event)) tail = []
      }
    },
    itemsUpTo(head) {
      // Workflow code publishes without leaving a trace in the history. Without such items, the signals are all.
      if (total === head) return rest
      return tail.length === head - from ? tail : null
    },
  }
}

/** The argument of a signal that publishes; null for any other event. */
function argumentOf({ workflowExecutionSignaledEventAttributes: signal }: HistoryEvent): Payload | null {
  return signal?.signalName === STREAM_PUBLISH ? (signal.input?.payloads?.[0] ?? {}) : null
}

function isAnsweredPoll({ workflowExecutionUpdateCompletedEventAttributes: completed }: HistoryEvent): boolean {
  return isPollUpdateId(completed?.meta?.updateId ?? '') && Boolean(completed?.outcome?.success)
}
