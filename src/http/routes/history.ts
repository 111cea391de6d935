import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { ServiceError } from '../../domain/errors.ts'
import type { HistoryFeed, Workflows } from '../../domain/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { problemBody } from '../errors.ts'
import { eventStream, type SendEvent } from '../events.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'
import { queryParameters } from '../query-parameters.ts'
import { respond } from '../response.ts'
import { duration, flag, integer, MAX_WAIT_MS } from './query-values.ts'

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
      const ref = execution(c)
      const { includePayloads = true } = queryParameters(c, streamParameters)
      const feed = await workflows.followHistory({ ref, after: lastEventId(c), includePayloads }, toCall(c))
      // 204 ends the reconnecting of an EventSource.
      if (feed === null) return respond(c, null, 204, {})
      return eventStream(c, (send) => sendFeed(c, send, feed), commentEveryMs)
    })
}

const pageParameters = z.strictObject({
  pageSize: z.exactOptional(integer(1, 1000)),
  pageToken: z.exactOptional(z.string()),
  wait: z.exactOptional(duration(MAX_WAIT_MS)),
  includePayloads: z.exactOptional(flag),
})

const streamParameters = z.strictObject({ includePayloads: z.exactOptional(flag) })

function lastEventId(c: Context<Env>): number {
  const id = c.req.header('Last-Event-ID') ?? '0'
  if (/^\d{1,15}$/.test(id)) return Number(id)
  throw new ServiceError('ValidationError', 'Last-Event-ID must be the id of an event: a number')
}

async function sendFeed(c: Context<Env>, send: SendEvent, { workflow, pages }: HistoryFeed): Promise<void> {
  try {
    await send('workflow', workflow)
    for await (const { events, closed } of pages) {
      for (const event of events) await send('history', event, String(event.eventId))
      if (closed !== null) await send('done', closed)
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    c.error = error
    await send('server_error', problemBody(c, error))
  }
}
