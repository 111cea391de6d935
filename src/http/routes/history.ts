import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { ServiceError } from '../../domain/model/errors.ts'
import type { ExecutionRef } from '../../domain/model/execution.ts'
import type { HistoryFeed, Workflows } from '../../domain/model/workflows.ts'
import { UUID_PATTERN } from '../../protocol/names.ts'
import { type Env, toCall } from '../context.ts'
import { problemBody } from '../errors.ts'
import { eventStream, type SendEvent } from '../events.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'
import { queryParameters } from '../query-parameters.ts'
import { respond } from '../response.ts'
import { duration, flag, integer, MAX_WAIT_MS } from './fields/query-values.ts'

/** The events of a run: page by page, or as a stream. */
export function history(workflows: Workflows, commentEveryMs: number) {
  return new Hono<Env>()
    .get('/history', async (c) => {
      const ref = execution(c)
      const { pageSize = 100, pageToken = null, wait = 0, includePayloads = true } = queryParameters(c, pageParameters)
      const command = { ref, pageSize, pageToken, waitMs: wait, includePayloads }
      return jsonResponse(c, await workflows.history(command, toCall(c)))
    })
    .get('/history/stream', async (c) => {
      const path = execution(c)
      const { includePayloads = true } = queryParameters(c, streamParameters)
      const { ref, after } = lastEvent(c, path)
      const feed = await workflows.followHistory({ ref, after, includePayloads }, toCall(c))
      // 204 ends the reconnecting of an EventSource.
      if (feed === null) return respond(c, null, 204, {})
      // Without a run id the path may name another run when the client reconnects.
      const suffix = path.runId === undefined ? `@${feed.workflow.runId}` : ''
      return eventStream(c, (send) => sendFeed(c, send, feed, suffix), commentEveryMs)
    })
}

export const pageParameters = z.strictObject({
  pageSize: z.exactOptional(integer(1, 1000)),
  pageToken: z.exactOptional(z.string()),
  wait: z.exactOptional(duration(MAX_WAIT_MS)),
  includePayloads: z.exactOptional(flag),
})

export const streamParameters = z.strictObject({ includePayloads: z.exactOptional(flag) })

const EVENT_ID = new RegExp(`^(\\d{1,15})(?:@(${UUID_PATTERN}))?$`)

/** The last event that the client has received, and the run that it belongs to. */
function lastEvent(c: Context<Env>, path: ExecutionRef): { ref: ExecutionRef; after: number } {
  const [, after, runId = path.runId] = EVENT_ID.exec(c.req.header('Last-Event-ID') || '0') ?? []
  const ref = runId === undefined ? path : { ...path, runId: runId.toLowerCase() }
  if (after !== undefined && (path.runId ?? ref.runId) === ref.runId) return { ref, after: Number(after) }
  throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event of this run')
}

async function sendFeed(
  c: Context<Env>,
  send: SendEvent,
  { workflow, pages }: HistoryFeed,
  idSuffix: string,
): Promise<void> {
  try {
    await send('workflow', workflow)
    for await (const { events, closed } of pages) {
      for (const event of events) await send('history', event, `${event.eventId}${idSuffix}`)
      if (closed !== null) await send('done', closed)
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    c.error = error
    await send('server_error', problemBody(c, error))
  }
}
