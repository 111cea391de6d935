/** Responds with the events of a run, or reads where a client that reconnects has stopped. */
import type { Context } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../domain/model/execution.ts'
import type { StreamEvent, StreamFeed, StreamStart } from '../domain/model/stream.ts'
import { linkSignals } from '../lib/abort.ts'
import { percentEncode } from '../lib/percent-encode.ts'
import { UUID_PATTERN, workflowIdIssue } from '../protocol/names.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { StreamPosition } from '../protocol/stream.ts'
import type { Env } from './context.ts'
import { isTransientProblem, PROBLEMS, problemBody } from './errors.ts'
import { eventFrame, eventStream } from './events.ts'
import { ref as schemaOf } from './openapi/schemas/schema.ts'
import { respond } from './response.ts'

/** The events, with the schemas of their data. Those of a stream are only sent if the request has `stream`. */
export const RUN_EVENTS = {
  started: schemaOf('RunIds'),
  item: schemaOf('StreamItem'),
  truncated: schemaOf('TruncatedItems'),
  continued: schemaOf('ContinuedRun'),
  result: schemaOf('WorkflowResult'),
  timeout: schemaOf('Problem408'),
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
  if (last?.isEnd) {
    await checkRead(last.run)
    // 204 ends the reconnecting of an EventSource.
    return respond(c, null, 204, {})
  }
  const { promise: found, resolve } = Promise.withResolvers<RunRef>()
  const ended = wait(resolve)
  // An error before the run is known is an ordinary error response.
  const { workflowId, runId } = await Promise.race([found, ended])
  const run = { workflowId, runId }
  const items = follow && itemFrames(run, last?.next ?? 0, ended, follow, c.get('signal'))
  return eventStream(c, runFrames(c, run, ended, items), { commentEveryMs })
}

async function* runFrames(
  c: Context<Env>,
  run: RunRef,
  ended: Promise<WorkflowResult>,
  items?: AsyncIterable<RunFrame>,
): AsyncGenerator<string> {
  let lastId = runEventId(run)
  yield eventFrame('started', run, lastId)
  try {
    for await (const { id, frame } of items ?? []) {
      lastId = id
      yield frame
    }
    yield eventFrame('result', await ended, lastRunEventId(run))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    c.error = error
    const body = problemBody(c, error)
    // The run may have continued as a new one. Then the next wait begins with that run.
    const current = { ...run, runId: body.runId ?? run.runId }
    const resumeAt = items === undefined ? runEventId(current) : lastId
    if (body.error === 'WorkflowExecutionTimedOutError') yield eventFrame('timeout', body, resumeAt)
    else yield eventFrame('server_error', body, isTransientProblem(body) ? resumeAt : lastRunEventId(current))
  }
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
  run: RunRef,
  next: number,
  ended: Promise<WorkflowResult>,
  follow: NonNullable<RunEvents['follow']>,
  signal: AbortSignal,
): AsyncGenerator<RunFrame> {
  const linked = linkSignals(signal)
  ended.catch(() => linked.abort())
  try {
    const feed = await follow(run, { next, runId: run.runId, isEnd: false }, linked.signal)
    for await (const event of feed?.events ?? []) {
      for (const [name, data, position] of runEventsOf(event)) {
        const id = runEventId({ ...run, runId: position.runId }, position.next)
        yield { id, frame: eventFrame(name, data, id) }
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || isTransientProblem(PROBLEMS[error.error])) throw error
  } finally {
    linked.release()
  }
}

type Position = Pick<StreamPosition, 'next' | 'runId'>

/** Converts an event of the stream to events of the response: their names, their data and the position after each. */
function runEventsOf(event: StreamEvent): [name: string, data: unknown, position: Position][] {
  switch (event.type) {
    case 'items':
      return event.items.map((item) => ['item', item, { next: item.offset + 1, runId: event.runId }])
    case 'truncated':
      return [['truncated', { from: event.from, to: event.to }, { next: event.to, runId: event.runId }]]
    case 'continued':
      return [['continued', event.continued, { next: event.from, runId: event.continued.runId }]]
    default:
      return []
  }
}

/** Contains only characters that every client can send in a header. */
function runEventId({ workflowId, runId }: RunRef, next?: number): string {
  return `${percentEncode(workflowId)}/${runId}${next === undefined ? '' : `/${next}`}`
}

/** The id of an event after which nothing follows. */
function lastRunEventId(run: RunRef): string {
  return `${runEventId(run)}/end`
}

export interface LastRead {
  run: RunRef
  /** Whether the client has received the last event. */
  isEnd: boolean
  /** The offset of the next item, if the client has read items. */
  next?: number
}

const RUN_EVENT_ID = new RegExp(`^([^/]+)/(${UUID_PATTERN})(?:/(end|\\d{1,15}))?$`)

/**
 * The run that `Last-Event-ID` names; null without it.
 * Throws `WorkflowNotFoundError` if that is not a run of `expected`.
 */
export function lastReadRun(c: Context, expected: Partial<ExecutionRef>): LastRead | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const [, encoded = '', runId = '', after] = RUN_EVENT_ID.exec(id) ?? []
  const workflowId = decode(encoded)
  const isExpected = workflowId === (expected.workflowId ?? workflowId) && runId === (expected.runId ?? runId)
  if (isExpected && workflowIdIssue(workflowId) === null)
    return {
      run: { workflowId, runId: runId.toLowerCase() },
      isEnd: after === 'end',
      ...(after !== undefined && after !== 'end' && { next: Number(after) }),
    }
  throw new ServiceError('WorkflowNotFoundError', 'Last-Event-ID does not name a run of this request', {
    details: { source: 'gateway' },
  })
}

/** An empty string, which is not a valid workflow id, if the text is not percent-encoded UTF-8. */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return ''
  }
}
