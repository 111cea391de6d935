/** The events of a stream, across the runs of a chain. */
import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { admitsRun, type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine } from '../model/engine.ts'
import type { ErrorFacts } from '../model/errors.ts'
import type { FeedEvent, FollowStreamCommand, RunStreamEvent, StreamRun } from '../model/stream.ts'
import type { Ports } from '../ports.ts'

export interface StreamSource extends Pick<FollowStreamCommand, 'followsChain' | 'topics'> {
  run: RunRef & { status: Status }
  from: number | 'now'
}

/** Begins with `workflow`. Ends after `done`, or when `call` is over. */
export async function* streamEvents(
  { engine }: Pick<Ports, 'engine'>,
  { run: first, from: start, topics, followsChain }: StreamSource,
  call: Call,
): AsyncGenerator<FeedEvent> {
  let run: StreamRun = { workflowId: first.workflowId, runId: first.runId, status: first.status, from: start }
  yield { type: 'workflow', workflow: run }
  while (true) {
    const reader = await engine.openStream(run, run.from, call)
    let last: RunStreamEvent | null
    try {
      for (last = await reader.next(call); last !== null && last.type !== 'end'; last = await reader.next(call))
        yield toEvent(last, run, topics)
    } finally {
      reader.close()
    }
    if (last === null) return
    const { workflowId, runId } = run
    const { status, completedAt, complete, next } = last.end
    if (next === null || !followsChain || !(await mayFollow(engine, { workflowId, runId: next.runId }, call)))
      return yield { type: 'done', done: { workflowId, runId, status, completedAt, next: last.next, complete } }
    const reset = next.isReset ? ({ reset: true } as const) : {}
    const continued = { workflowId, runId: next.runId, continuedFrom: runId, ...reset }
    yield { type: 'continued', continued, from: next.from }
    run = { workflowId, runId: next.runId, status: 'running', from: next.from }
  }
}

async function mayFollow(engine: Pick<Engine, 'describe'>, next: RunRef, call: Call): Promise<boolean> {
  const admitsAll = (call.admits?.() ?? null) === null
  return admitsAll || admitsRun(call, await engine.describe(next, withTimeout(call, TIMEOUT_MS.describe)))
}

/** If all topics are read, the event keeps its array of items: readers share what is derived from it. */
function toEvent(
  event: Exclude<RunStreamEvent, { type: 'end' }>,
  run: StreamRun,
  topics: readonly string[],
): FeedEvent {
  if (event.type === 'obstacle') return { ...event, workflow: withObstacle(run, event.error) }
  if (event.type !== 'items' || topics.length === 0) return event
  return { ...event, items: event.items.filter(({ topic }) => topics.includes(topic)) }
}

function withObstacle(run: StreamRun, { details: { workflowStatus, problem } }: { details: ErrorFacts }): StreamRun {
  return { ...run, ...(workflowStatus && { status: workflowStatus }), ...(problem && { problem }) }
}
