/** A stream without a service: the test says what each connection sends. */
import { vi } from 'vitest'
import type { StreamOptions } from '../../../src/client/index.ts'
import { clientOf, type Respond, sent } from './scripted-service.ts'

export const RUN_ID = '01a208f4-a730-742e-81e9-92b88320ed51'
export const RUN = { workflowId: 'w', runId: RUN_ID }
export const at = (offset: number | 'end') => `${RUN_ID}@${offset}`

/** An event as the service sends it. */
export const frame = (event: string, data: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
export const workflow = (from = 0) => `retry: 2000\n\n${frame('workflow', { ...RUN, status: 'running', from })}`
export const item = (offset: number, data: unknown = offset) => frame('item', { offset, topic: 't', data }, at(offset))
export const ended = { ...RUN, status: 'completed', completedAt: '2026-01-01T00:00:00.000Z', next: 2, complete: true }
export const done = frame('done', ended, at('end'))

export const HEADERS = { 'Content-Type': 'text/event-stream' }

/** A connection that is closed after these frames. */
export const events =
  (...frames: string[]): Respond =>
  () =>
    new Response(frames.join(''), { headers: HEADERS })

/** A connection that sends these parts, and then nothing. */
export const parts =
  (...texts: (string | Uint8Array)[]): Respond =>
  ({ signal }) => {
    const encoder = new TextEncoder()
    const body = new ReadableStream({
      start(controller) {
        for (const text of texts) controller.enqueue(typeof text === 'string' ? encoder.encode(text) : text)
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: HEADERS })
  }

/** The result of reading all, after as much time as that takes. */
export async function readAll<Item>(items: AsyncIterable<Item>): Promise<{ items: Item[]; error?: unknown }> {
  const read: Item[] = []
  const all = (async () => {
    for await (const one of items) read.push(one)
    return { items: read }
  })().catch((error: unknown) => ({ items: read, error }))
  await vi.advanceTimersByTimeAsync(600_000)
  return all
}

export const stream = (responses: Respond[], options?: StreamOptions, ...client: Parameters<typeof clientOf>[1][]) =>
  clientOf(responses, ...client).stream({ ...RUN }, options)

export const lastEventIds = () => sent.map(({ headers }) => headers.get('Last-Event-ID'))
