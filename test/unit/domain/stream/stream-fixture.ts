import type { Engine } from '../../../../src/domain/model/engine.ts'
import type { Description } from '../../../../src/domain/model/execution.ts'
import type { RunEnd, StreamEvent, StreamItem, StreamPage } from '../../../../src/domain/model/stream.ts'
import type { StreamPorts } from '../../../../src/domain/stream/follow-stream.ts'
import { whenAborted } from '../../../../src/lib/abort.ts'
import { aDescription, anEngine, makeCatalogs } from '../catalog-fixture.ts'

export const RUN_1 = '0198c0de-0000-7000-8000-000000000001'
export const RUN_2 = '0198c0de-0000-7000-8000-000000000002'

export function items(from: number, count: number, topic = 'tokens'): StreamItem[] {
  return Array.from({ length: count }, (_, at) => ({ offset: from + at, topic, data: from + at }))
}

export function pageOf(added: StreamItem[], more: Partial<StreamPage> = {}): StreamPage {
  return { items: added, next: (added.at(-1)?.offset ?? -1) + 1, ...more }
}

export function live(next: number): StreamPage {
  return { items: [], next, isLive: true }
}

export function endAt(next: number, end: Partial<RunEnd> = {}): StreamPage {
  const completed: RunEnd = { status: 'completed', completedAt: new Date(0), next: null, complete: true }
  return { items: [], next, end: { ...completed, ...end } }
}

export async function allOf(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

interface StreamScript {
  /** What the reader of each run gets, by its id. After the last page it waits. */
  pages?: Record<string, (StreamPage | Error | Promise<StreamPage>)[]>
  /** The offset after the last item of the workflow. */
  head?: number
  latest?: Partial<Description>
  engine?: Partial<Engine>
}

/** A workflow whose latest run is `RUN_1`, and what its readers do. */
export function scriptedStream({ pages = {}, head = 0, latest = {}, engine: verbs = {} }: StreamScript = {}) {
  const calls: string[] = []
  const engine = anEngine({
    async describe(ref) {
      calls.push(`describe ${ref.runId ?? 'latest'}`)
      return aDescription({ runId: RUN_1, ...ref, ...latest })
    },
    async openStream({ runId }, from) {
      calls.push(`open ${runId} ${from}`)
      const left = [...(pages[runId] ?? [])]
      return {
        async next({ signal }) {
          const page = left.shift()
          if (page instanceof Error) throw page
          if (page !== undefined) return signal.aborted ? null : page
          return new Promise((resolve) => whenAborted(signal, () => resolve(null)))
        },
        head: async () => head,
        close: () => void calls.push(`close ${runId}`),
      }
    },
    ...verbs,
  })
  const ports: StreamPorts = { engine, catalogs: makeCatalogs().catalogs }
  return { ports, calls }
}
