import type { Context } from 'hono'
import type { WorkflowResult } from '../domain/model/execution.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { Env } from './context.ts'
import { problemBody } from './errors.ts'
import { eventStream, type SendEvent } from './events.ts'
import { ref as schemaOf } from './openapi/schemas/schema.ts'
import { respond } from './response.ts'
import { type LastRead, lastRunEventId, runEventId } from './run-event-id.ts'

/** The events, with the schemas of their data. */
export const RUN_EVENTS = {
  started: schemaOf('RunIds'),
  result: schemaOf('WorkflowResult'),
  timeout: schemaOf('Problem408'),
  server_error: schemaOf('ProblemDetails'),
}

export interface RunEvents {
  /** The run that a client has reconnected for. */
  last: LastRead | null
  /** Interval of the comments. */
  commentEveryMs: number
  /** Waits for the result, and says for which run as soon as that is known. */
  wait(onFound: (run: RunRef) => void): Promise<WorkflowResult>
}

/** Sends the ids of the run at once and the outcome later, so that a client that loses the connection can reconnect. */
export async function runEvents(c: Context<Env>, { last, commentEveryMs, wait }: RunEvents): Promise<Response> {
  // 204 ends the reconnecting of an EventSource.
  if (last?.isEnd) return respond(c, null, 204, {})
  const { promise: found, resolve } = Promise.withResolvers<RunRef>()
  const ended = wait(resolve)
  // An error before the run is known is an ordinary error response.
  const { workflowId, runId } = await Promise.race([found, ended])
  return eventStream(c, (send) => sendRun(c, send, { workflowId, runId }, ended), commentEveryMs)
}

// After these errors a client may reconnect and wait on: what caused them may be over.
const TRANSIENT = new Set([429, 502, 503, 504])

async function sendRun(c: Context<Env>, send: SendEvent, run: RunRef, ended: Promise<WorkflowResult>): Promise<void> {
  const [, end] = await Promise.allSettled([send('started', run, runEventId(run)), ended])
  if (end.status === 'fulfilled') return void (await send('result', end.value, lastRunEventId(run)))
  c.error = end.reason
  const body = problemBody(c, end.reason)
  // The run may have continued as a new one, which is where the next wait begins.
  const current = { ...run, runId: body.runId ?? run.runId }
  if (body.error === 'WorkflowExecutionTimedOutError') await send('timeout', body, runEventId(current))
  else await send('server_error', body, TRANSIENT.has(body.status) ? runEventId(current) : lastRunEventId(current))
}
