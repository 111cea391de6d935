/** Responds with the events of a run. */
import type { Context } from 'hono'
import { linkSignals } from '../../../shared/lib/abort.ts'
import { type Position, positionAt, positionId } from '../../../shared/wire/position.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { ServiceError } from '../../model/errors.ts'
import type { WorkflowResult } from '../../model/execution.ts'
import type { FeedEvent, StreamFeed, StreamStart } from '../../model/stream.ts'
import { type Env, respond } from '../context.ts'
import { isTransientProblem, PROBLEMS, type ProblemBody, severityOf } from '../errors.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import type { LastRead } from '../prefer.ts'
import { eventFrame, eventStream } from './events.ts'

/** The events, with the schemas of their data. Those of a stream are only sent if the request has `stream`. */
export const RUN_EVENTS = {
  started: schemaOf('RunIds'),
  item: schemaOf('StreamItem'),
  truncated: schemaOf('TruncatedItems'),
  continued: schemaOf('ContinuedRun'),
  result: schemaOf('WorkflowResult'),
  timeout: schemaOf('Problem424'),
  server_error: schemaOf('ProblemDetails'),
}

export interface RunEvents {
  /** The run whose events a reconnected client has read before. */
  last: LastRead | null
  /** Interval of the comments. */
  commentEveryMs: number
  /** Rejects if the caller may not read the run. */
  checkRead(run: RunRef): Promise<void>
  /** Waits for the result. Calls `onFound` as soon as the run is known. */
  wait(onFound: (run: RunRef) => void): Promise<WorkflowResult>
  /** Reads what the run publishes; absent if the request has no `stream`. */
  follow?: ((run: RunRef, from: StreamStart, signal: AbortSignal) => Promise<StreamFeed | null>) | undefined
}

/** Sends the ids of the run at once and the outcome later, so that a client that loses the connection can reconnect. */
export async function runEvents(c: Context<Env>, events: RunEvents): Promise<Response> {
  const { last, commentEveryMs, checkRead, wait, follow } = events
  if (last?.last === 'end') {
    await checkRead(last.run)
    // 204 ends the reconnecting of an EventSource.
    return respond(c, null, 204, {})
  }
  const { promise: found, resolve } = Promise.withResolvers<RunRef>()
  const ended = wait(resolve)
  // An error before the run is known is an ordinary error response.
  const { workflowId, runId } = await Promise.race([found, ended])
  const run = { workflowId, runId }
  const items = follow && itemFrames({ ...run, last: last?.last ?? null }, ended, follow, c.get('signal'))
  let lastId = positionId({ ...run, last: null })

  async function* frames(): AsyncGenerator<string> {
    yield eventFrame('started', run, lastId)
    for await (const { id, frame } of items ?? []) {
      lastId = id
      yield frame
    }
    yield eventFrame('result', await ended, positionId({ ...run, last: 'end' }))
  }

  function onError(body: ProblemBody, error: Error): string {
    // The run may have continued as a new one. Then the next wait begins with that run.
    const current = { ...run, runId: body.runId ?? run.runId }
    const resumeAt = items === undefined ? positionId({ ...current, last: null }) : lastId
    if (body.error === 'WorkflowExecutionTimedOutError') return eventFrame('timeout', body, resumeAt)
    // The status is another one if the request must not be repeated. The wait can be repeated all the same.
    const isTransient = isTransientProblem({ status: severityOf(error, body.status) })
    return eventFrame('server_error', body, isTransient ? resumeAt : positionId({ ...current, last: 'end' }))
  }

  return eventStream(c, frames(), { commentEveryMs, onError })
}

interface RunFrame {
  /** What the client sends back to continue after the frame. */
  id: string
  frame: string
}

/**
 * Ends with the stream, or when the wait for the result fails. If the workflow has no stream, or none that can be read,
 * the client gets the result all the same.
 */
async function* itemFrames(
  position: RunRef & Position,
  ended: Promise<WorkflowResult>,
  follow: NonNullable<RunEvents['follow']>,
  signal: AbortSignal,
): AsyncGenerator<RunFrame> {
  const linked = linkSignals(signal)
  ended.catch(() => linked.abort())
  try {
    const feed = await follow(position, position, linked.signal)
    for await (const event of feed?.events ?? []) {
      for (const [name, data, place] of runEventsOf(event)) {
        const id = positionId({ ...place, workflowId: position.workflowId })
        yield { id, frame: eventFrame(name, data, id) }
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || isTransientProblem(PROBLEMS[error.error])) throw error
  } finally {
    linked.release()
  }
}

/** Converts an event of the stream to events of the response: their names, their data and the position after each. */
function runEventsOf(event: FeedEvent): [name: string, data: unknown, position: Position][] {
  switch (event.type) {
    case 'items':
      return event.items.map((item) => ['item', item, { runId: event.runId, last: item.offset }])
    case 'truncated':
      return [['truncated', { from: event.from, to: event.to }, positionAt(event, event.to)]]
    case 'continued':
      return [['continued', event.continued, positionAt(event.continued, event.from)]]
    default:
      return []
  }
}
