import { expect, test } from 'vitest'
import { inChunks, makeApi, rejection } from '../api.ts'

const PATH = '/workflow/w/signal/s'
const json = { 'Content-Type': 'application/json' }

function makeBodyApi(options: { maxBodyBytes?: number; bodyTimeoutMs?: number } = {}) {
  const api = makeApi({
    ...options,
    workflows: { signal: async ({ ref: { workflowId } }) => ({ workflowId, runId: 'r', warnings: [] }) },
  })

  /** Sends a chunk for each read; the body ends only when `chunks` does. */
  async function stream(chunks: Iterable<string | Uint8Array>, headers: Record<string, string> = json) {
    const iterator = chunks[Symbol.iterator]()
    const seen = { pulled: 0, cancelled: false }
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const { done, value } = iterator.next()
          if (done) return controller.close()
          seen.pulled++
          controller.enqueue(typeof value === 'string' ? new TextEncoder().encode(value) : value)
        },
        cancel() {
          seen.cancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return { response: await api.fetch(inChunks(PATH, body, headers)), seen }
  }

  return {
    stream,
    signal: (body?: unknown, headers?: Record<string, string>) => api.call('POST', PATH, body, headers),
  }
}

test.for(['', ' ', 'identity', 'identity, Identity'])('body: Content-Encoding "%s" means none', async (encoding) => {
  const { signal } = makeBodyApi()

  expect((await signal('{}', { 'Content-Encoding': encoding })).status).toBeLessThan(300)
})

test('body: accepts application/json and +json types, with or without a charset', async () => {
  const { signal } = makeBodyApi()

  for (const type of [
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/vnd.order+json',
    'application/cloudevents+json;v=1',
  ]) {
    expect([type, (await signal('{"payload":1}', { 'Content-Type': type })).status]).toEqual([type, 200])
  }
})

test('body: decodes a character that is split between two chunks', async () => {
  const { stream } = makeBodyApi()

  const { response } = await stream(['{"payload":"', new Uint8Array([0xc3]), new Uint8Array([0xa9]), '"}'])

  expect(response.status).toBe(200)
})

test('body: rejects JSON nested deeper than 1000 levels, and 100 000 levels (threat 47)', async () => {
  const { signal } = makeBodyApi()

  const deep = (levels: number) => `{"payload":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

  expect((await signal(deep(1000))).status).toBe(200)
  expect(await rejection(await signal(deep(1001)))).toEqual([400, 'ValidationError'])
  expect(await rejection(await signal(deep(100_000)))).toEqual([400, 'ValidationError'])
})

test('body: may be as large as the limit', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 13 })

  for (const headers of [json, { ...json, 'Content-Length': '13' }])
    expect((await stream(['{"payload":', '1}'], headers)).response.status).toBe(200)
})

test('body: of a known length is decoded, and counted, like any other', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 100 })
  const ofLength = (length: number) => ({ ...json, 'Content-Length': String(length) })

  const valid = await stream(['{"payload":"', new Uint8Array([0xc3]), new Uint8Array([0xa9]), '"}'], ofLength(16))
  const longer = await stream([' '.repeat(101)], ofLength(100))

  expect(valid.response.status).toBe(200)
  expect(await rejection(longer.response)).toEqual([413, 'PayloadTooLargeError'])
})
