/**
 * The items that signals have published in a stream, read from a run's history, after those that its input has from the
 * run before: for the end of a closed run whose workflow has no query for them.
 */
import {
  findStreamState,
  isPollUpdateId,
  isPublishInput,
  isWireItem,
  type PublishInput,
  STREAM_PUBLISH,
  type WireItem,
} from '../../wire/stream.ts'
import type { TemporalEvent } from '../outcome.ts'
import type { Payload } from '../payload.ts'

export interface StreamLog {
  /** Adds the next events of the history. `decode` decodes the arguments of the run and of signals. */
  add(events: readonly TemporalEvent[], decode: (payloads: Payload[]) => Promise<unknown[]>): Promise<void>
  /** The items from the offset up to `head`, the offset after the last item; null if the history does not have them. */
  itemsUpTo(head: number): readonly WireItem[] | null
}

/** `from` is the offset after the last item that polls have returned. */
export function createStreamLog(from: number): StreamLog {
  // As the SDKs do: a batch that a publisher sends again is ignored.
  const sequences = new Map<string, number>()
  // The offset after the known items, those after the first `from` of them, and those after the last poll.
  let total = 0
  let rest: WireItem[] = []
  let tail: WireItem[] = []

  function begin(args: readonly unknown[]): void {
    const state = findStreamState(args)
    if (state === null || !state.log.every(isWireItem)) return
    const { base_offset: base, log } = state
    total = base + log.length
    rest = log.slice(Math.max(0, from - base))
    tail = [...rest]
    for (const [publisher, sequence] of Object.entries(state.publisher_sequences)) sequences.set(publisher, sequence)
  }

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
      const encoded = events.map(argumentsOf)
      const decoded = encoded.some(({ length }) => length > 0) ? await decode(encoded.flat()) : []
      for (const [index, event] of events.entries()) {
        const args = decoded.splice(0, encoded[index]?.length)
        if (event.workflowExecutionStartedEventAttributes) begin(args)
        else if (isPublishInput(args[0])) publish(args[0])
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

/** The arguments of the run, or the argument of a signal that publishes. */
function argumentsOf(event: TemporalEvent): Payload[] {
  const { workflowExecutionStartedEventAttributes: started, workflowExecutionSignaledEventAttributes: signal } = event
  if (started) return started.input?.payloads ?? []
  return signal?.signalName === STREAM_PUBLISH ? [signal.input?.payloads?.[0] ?? {}] : []
}

function isAnsweredPoll({ workflowExecutionUpdateCompletedEventAttributes: completed }: TemporalEvent): boolean {
  return isPollUpdateId(completed?.meta?.updateId ?? '') && Boolean(completed?.outcome?.success)
}
