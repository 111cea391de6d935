import type { Engine } from '../../../../src/service/model/engine.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import type { FeedEvent, RunEnd, RunStreamEvent, StreamItem } from '../../../../src/service/model/stream.ts'
import type { StreamPorts } from '../../../../src/service/streams/follow-stream.ts'
import { whenOver } from '../../../../src/shared/lib/abort.ts'
import { aDescription, anEngine, makeCatalogs } from '../catalog-fixture.ts'

export const RUN_1 = '0198c0de-0000-7000-8000-000000000001'
export const RUN_2 = '0198c0de-0000-7000-8000-000000000002'

export function items(from: number, count: number, topic = 'tokens'): StreamItem[] {
  return Array.from({ length: count }, (_, at) => ({ offset: from + at, topic, data: from + at }))
}

// The reader of each run adds the id of the run, and where the stream is.
const RUN = { runId: RUN_1 }

export function pageOf(added: StreamItem[]): RunStreamEvent {
  return { type: 'items', ...RUN, items: added, next: (added.at(-1)?.offset ?? -1) + 1 }
}

export function lost(from: number, to: number): RunStreamEvent {
  return { type: 'truncated', ...RUN, from, to }
}

export function live(next: number): RunStreamEvent {
  return { type: 'live', ...RUN, next, head: async () => next }
}

export function endAt(next: number, end: Partial<RunEnd> = {}): RunStreamEvent {
  const completed: RunEnd = { status: 'completed', completedAt: new Date(0), next: null, complete: true }
  return { type: 'end', next, end: { ...completed, ...end } }
}

export async function allOf(events: AsyncIterable<FeedEvent>): Promise<FeedEvent[]> {
  const all: FeedEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

interface StreamScript {
  /** What the reader of each run gets, by its id. After the last event it waits. */
  pages?: Record<string, (RunStreamEvent | Error | Promise<RunStreamEvent>)[]>
  /** What the reader gets then at its deadline. */
  atDeadline?: RunStreamEvent
  /** The offset after the last item of the workflow. */
  head?: number | Error
  latest?: Partial<Description>
  engine?: Partial<Engine>
}

/** A workflow whose latest run is `RUN_1`, and what its readers do. */
export function scriptedStream({
  pages = {},
  atDeadline,
  head = 0,
  latest = {},
  engine: verbs = {},
}: StreamScript = {}) {
  const calls: string[] = []
  const engine = anEngine({
    async describe(ref) {
      calls.push(`describe ${ref.runId ?? 'latest'}`)
      return aDescription({ runId: RUN_1, ...ref, ...latest })
    },
    async openStream({ runId }, from) {
      calls.push(`open ${runId} ${from}`)
      const ofReader = (event: RunStreamEvent) => ({
        ...event,
        ...('runId' in event && { runId }),
        ...(event.type === 'live' && {
          head: () => (head instanceof Error ? Promise.reject(head) : Promise.resolve(head)),
        }),
      })
      const left = [...(pages[runId] ?? [])]
      return {
        async next({ signal, deadlineAt }) {
          const event = left.shift()
          if (event instanceof Error) throw event
          if (event !== undefined) return signal.aborted ? null : ofReader(await event)
          if (signal.aborted) return null
          return new Promise((resolve) =>
            whenOver(deadlineAt, signal, () => resolve((runId === RUN_1 && atDeadline) || null)),
          )
        },
        close: () => void calls.push(`close ${runId}`),
      }
    },
    ...verbs,
  })
  const ports: StreamPorts = { engine, catalogs: makeCatalogs().catalogs }
  return { ports, calls }
}
