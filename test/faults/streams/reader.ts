/** A client of streams that reconnects as an EventSource does, and what tests ask about a stream. */
import type { Client } from '@temporalio/client'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { sleep } from '../../../src/shared/lib/abort.ts'
import { isPollUpdateId } from '../../../src/shared/wire/stream.ts'
import type { Answer, Api } from '../../support/api.ts'
import { eventsOf, type Sent } from '../../support/event-stream.ts'
import { CALLER_HEADERS } from '../../support/policy.ts'

export interface StreamReader {
  /** All events so far, across connections. */
  events: readonly Sent[]
  /** The status of each response. */
  statuses: readonly number[]
  /** The data of the items so far. */
  data(): unknown[]
  /** The first event of this name, once there is one. */
  first(event: string): Promise<Sent>
  /** Resolves when it does not connect again: after a 204 or an event whose id ends the stream. */
  ended: Promise<void>
  close(): void
}

export interface Place {
  url?: string
  fetch?: (request: Request) => Promise<Response>
}

const RECONNECT_MS = 50

/** Reads from the place that `at` returns for each connection. */
export function readStream(at: () => Place, path: string, headers: Record<string, string> = {}): StreamReader {
  const events: Sent[] = []
  const statuses: number[] = []
  const client = new AbortController()
  let lastId: string | undefined
  let isOver = false

  async function connect(): Promise<void> {
    const { url = 'http://portico.test', fetch = globalThis.fetch } = at()
    const request = new Request(`${url}/workflow/${path}`, {
      headers: { ...CALLER_HEADERS, ...headers, ...(lastId !== undefined && { 'Last-Event-ID': lastId }) },
      signal: client.signal,
    })
    const response = await fetch(request)
    statuses.push(response.status)
    isOver = response.status === 204 || (response.status >= 400 && response.status < 500)
    if (response.status !== 200) return void (await response.body?.cancel())
    let isBegun = false
    for await (const event of eventsOf(response.body ?? new ReadableStream())) {
      if (isBegun && saysThatItWaits(event)) continue
      isBegun = true
      events.push(event)
      lastId = event.id ?? lastId
      isOver = event.id?.endsWith('@end') === true
    }
  }

  async function follow(): Promise<void> {
    while (!isOver && !client.signal.aborted) {
      await connect().catch(() => {}) // connects again
      if (!isOver) await sleep(RECONNECT_MS, client.signal)
    }
  }

  return {
    events,
    statuses,
    data: () => events.filter(({ event }) => event === 'item').map(({ data }) => data.data),
    first: (name) => until(`there is an event ${name}`, () => events.find(({ event }) => event === name)),
    ended: follow(),
    close: () => client.abort(),
  }
}

/** A worker that does not respond for 7 s, as on a busy machine, is a reason to send `workflow` again. */
function saysThatItWaits({ event, data }: Sent): boolean {
  return event === 'workflow' && data.status === 'running' && data.problem === undefined
}

/**
 * Publishes these values in one batch. Repeats a request that no worker has answered within 10 s, as on a busy machine.
 */
export function publish(api: Pick<Api, 'post'>, workflowId: string, ...values: unknown[]): Promise<Answer> {
  const send = publishing(api, workflowId, values)
  return until('a worker responds', async () => {
    const answer = await send()
    return answer.status !== 504 && answer
  })
}

/** Publishes these values in one batch, through outages and limits. */
export async function publishUntilAccepted(
  api: Pick<Api, 'post'>,
  workflowId: string,
  ...values: unknown[]
): Promise<void> {
  const send = publishing(api, workflowId, values)
  await until('the items are accepted', async () => (await send()).status === 202)
}

/** With one key: a response that is lost or late does not say whether the run has the items. */
function publishing(api: Pick<Api, 'post'>, workflowId: string, values: unknown[]): () => Promise<Answer> {
  const items = values.map((data) => ({ topic: 'tokens', data }))
  const key = { 'Idempotency-Key': crypto.randomUUID() }
  return () => api.post(`${workflowId}/stream`, { items }, key)
}

// A response of the engine may have 4 MB, and an event a large item.
const PAGE_SIZE = 10

/** The ids of the updates that readers have sent to a run, in order. */
export async function pollsOf({ workflowService }: Client, workflowId: string): Promise<string[]> {
  const polls: string[] = []
  let nextPageToken: Uint8Array | undefined
  do {
    const page = await workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId },
      maximumPageSize: PAGE_SIZE,
      ...(nextPageToken && { nextPageToken }),
    })
    const accepted = page.history?.events?.map((event) => event.workflowExecutionUpdateAcceptedEventAttributes)
    polls.push(...(accepted ?? []).map((it) => it?.acceptedRequest?.meta?.updateId ?? '').filter(isPollUpdateId))
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
  return polls
}

/** The names of the events and what they have, without ids of runs. */
export function outline(events: readonly Sent[]): unknown[] {
  return events.map(({ event, data }) => (event === 'item' ? data.data : event))
}
