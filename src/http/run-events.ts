/** Responds with the events of a run, or reads where a client that reconnects has stopped. */
import type { Context } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../domain/model/execution.ts'
import { percentEncode } from '../lib/percent-encode.ts'
import { UUID_PATTERN, workflowIdIssue } from '../protocol/names.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { Env } from './context.ts'
import { isTransient, problemBody } from './errors.ts'
import { eventFrame, eventStream } from './events.ts'
import { ref as schemaOf } from './openapi/schemas/schema.ts'
import { respond } from './response.ts'

/** The events, with the schemas of their data. */
export const RUN_EVENTS = {
  started: schemaOf('RunIds'),
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
}

/** Sends the ids of the run at once and the outcome later, so that a client that loses the connection can reconnect. */
export async function runEvents(c: Context<Env>, events: RunEvents): Promise<Response> {
  const { last, commentEveryMs, checkRead, wait } = events
  if (last?.isEnd) {
    await checkRead(last.run)
    // 204 ends the reconnecting of an EventSource.
    return respond(c, null, 204, {})
  }
  const { promise: found, resolve } = Promise.withResolvers<RunRef>()
  const ended = wait(resolve)
  // An error before the run is known is an ordinary error response.
  const { workflowId, runId } = await Promise.race([found, ended])
  return eventStream(c, runFrames(c, { workflowId, runId }, ended), { commentEveryMs })
}

async function* runFrames(c: Context<Env>, run: RunRef, ended: Promise<WorkflowResult>): AsyncGenerator<string> {
  yield eventFrame('started', run, runEventId(run))
  try {
    yield eventFrame('result', await ended, lastRunEventId(run))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    c.error = error
    const body = problemBody(c, error)
    // The run may have continued as a new one. Then the next wait begins with that run.
    const current = { ...run, runId: body.runId ?? run.runId }
    if (body.error === 'WorkflowExecutionTimedOutError') yield eventFrame('timeout', body, runEventId(current))
    else yield eventFrame('server_error', body, isTransient(body) ? runEventId(current) : lastRunEventId(current))
  }
}

/** Contains only characters that every client can send in a header. */
function runEventId({ workflowId, runId }: RunRef): string {
  return `${percentEncode(workflowId)}/${runId}`
}

/** The id of an event after which nothing follows. */
function lastRunEventId(run: RunRef): string {
  return `${runEventId(run)}/end`
}

export interface LastRead {
  run: RunRef
  /** Whether the client has received the last event. */
  isEnd: boolean
}

const RUN_EVENT_ID = new RegExp(`^([^/]+)/(${UUID_PATTERN})(/end)?$`)

/**
 * The run that `Last-Event-ID` names; null without it.
 * Throws `WorkflowNotFoundError` if that is not a run of `expected`.
 */
export function lastReadRun(c: Context, expected: Partial<ExecutionRef>): LastRead | null {
  const id = c.req.header('Last-Event-ID') ?? ''
  if (id === '') return null
  const [, encoded = '', runId = '', end] = RUN_EVENT_ID.exec(id) ?? []
  const workflowId = decode(encoded)
  const isExpected = workflowId === (expected.workflowId ?? workflowId) && runId === (expected.runId ?? runId)
  if (isExpected && workflowIdIssue(workflowId) === null)
    return { run: { workflowId, runId: runId.toLowerCase() }, isEnd: end !== undefined }
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
