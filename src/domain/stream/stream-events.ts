/** The events of a stream, across the runs of a chain. */
import type { Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../model/call.ts'
import type { ErrorFacts } from '../model/errors.ts'
import type { Ports } from '../model/ports.ts'
import type {
  FollowStreamCommand,
  StreamEvent,
  StreamItem,
  StreamPage,
  StreamReader,
  StreamRun,
} from '../model/stream.ts'

export interface StreamSource extends Pick<FollowStreamCommand, 'followsChain' | 'topics'> {
  run: RunRef & { status: Status }
  from: number | 'now'
}

/** Begins with `workflow`. Ends after `done`, or when `call` is over. */
export async function* streamEvents(
  { engine }: Pick<Ports, 'engine'>,
  { run: first, from: start, topics, followsChain }: StreamSource,
  call: Call,
): AsyncGenerator<StreamEvent> {
  let run: StreamRun = { workflowId: first.workflowId, runId: first.runId, status: first.status, from: start }
  yield { type: 'workflow', workflow: run }
  while (true) {
    const reader = await engine.openStream(run, run.from, call)
    let last: StreamPage | null
    try {
      for (last = await reader.next(call); last !== null && last.end === undefined; last = await reader.next(call))
        for (const event of pageEvents(last, reader, run, topics)) yield event
    } finally {
      reader.close()
    }
    if (last?.end === undefined) return
    const { workflowId, runId } = run
    const { status, completedAt, complete, next } = last.end
    if (next === null || !followsChain)
      return yield { type: 'done', done: { workflowId, runId, status, completedAt, next: last.next, complete } }
    const reset = next.isReset ? ({ reset: true } as const) : {}
    const continued = { workflowId, runId: next.runId, continuedFrom: runId, ...reset }
    yield { type: 'continued', continued, from: next.from }
    run = { workflowId, runId: next.runId, status: 'running', from: next.from }
  }
}

function pageEvents(
  { items, next, truncated, isLive, obstacle }: StreamPage,
  { head }: StreamReader,
  run: StreamRun,
  topics: readonly string[],
): StreamEvent[] {
  const { runId } = run
  const events: StreamEvent[] = []
  if (truncated !== undefined) events.push({ type: 'truncated', runId, ...truncated })
  if (obstacle !== undefined) events.push({ type: 'obstacle', workflow: withObstacle(run, obstacle), error: obstacle })
  if (isLive) events.push({ type: 'live', runId, next, head })
  else if (obstacle === undefined) events.push({ type: 'items', runId, items: ofTopics(items, topics), next })
  return events
}

/** If all topics are read, returns the given array, not a copy: readers share what is derived from it. */
function ofTopics(items: readonly StreamItem[], topics: readonly string[]): readonly StreamItem[] {
  return topics.length === 0 ? items : items.filter(({ topic }) => topics.includes(topic))
}

function withObstacle(run: StreamRun, { details: { workflowStatus, problem } }: { details: ErrorFacts }): StreamRun {
  return { ...run, ...(workflowStatus && { status: workflowStatus }), ...(problem && { problem }) }
}
