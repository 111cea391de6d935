/** The events of a stream, across the runs of a chain. */
import type { Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../model/call.ts'
import type { ErrorFacts } from '../model/errors.ts'
import type { Ports } from '../model/ports.ts'
import type { FollowStreamCommand, RunEnd, StreamEvent, StreamItem, StreamReader, StreamRun } from '../model/stream.ts'

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
    let ended: EndedRun | null
    try {
      ended = yield* runEvents(reader, run, topics, call)
    } finally {
      reader.close()
    }
    if (ended === null) return
    const { workflowId, runId } = run
    const { status, completedAt, complete, next } = ended.end
    if (next === null || !followsChain)
      return yield { type: 'done', done: { workflowId, runId, status, completedAt, next: ended.next, complete } }
    const reset = next.isReset ? ({ reset: true } as const) : {}
    const continued = { workflowId, runId: next.runId, continuedFrom: runId, ...reset }
    yield { type: 'continued', continued, from: next.from }
    run = { workflowId, runId: next.runId, status: 'running', from: next.from }
  }
}

interface EndedRun {
  end: RunEnd
  /** The offset after the last item. */
  next: number
}

/** Null if `call` is over first. */
async function* runEvents(
  reader: StreamReader,
  run: StreamRun,
  topics: readonly string[],
  call: Call,
): AsyncGenerator<StreamEvent, EndedRun | null> {
  const { runId } = run
  while (true) {
    const page = await reader.next(call)
    if (page === null) return null
    const { items, next, truncated, isLive, obstacle, end } = page
    if (end !== undefined) return { end, next }
    if (truncated !== undefined) yield { type: 'truncated', runId, ...truncated }
    if (obstacle !== undefined) yield { type: 'obstacle', workflow: withObstacle(run, obstacle), error: obstacle }
    if (isLive) yield { type: 'live', runId, next, head: reader.head }
    else if (obstacle === undefined) yield { type: 'items', runId, items: ofTopics(items, topics), next }
  }
}

/** The same array without topics: readers share what is derived from it. */
function ofTopics(items: readonly StreamItem[], topics: readonly string[]): readonly StreamItem[] {
  return topics.length === 0 ? items : items.filter(({ topic }) => topics.includes(topic))
}

function withObstacle(run: StreamRun, { details: { workflowStatus, problem } }: { details: ErrorFacts }): StreamRun {
  return { ...run, ...(workflowStatus && { status: workflowStatus }), ...(problem && { problem }) }
}
