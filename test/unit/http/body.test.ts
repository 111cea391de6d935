import { expect, test } from 'vitest'
import { inChunks, makeApi, rejection } from './api.ts'

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

function* endless(chunk: string) {
  while (true) yield chunk
}

test('body: is optional when no field is required, whatever the content type', async () => {
  const { signal } = makeBodyApi()

  expect((await signal()).status).toBe(200)
  expect((await signal('')).status).toBe(200)
  expect((await signal('', { 'Content-Type': 'application/x-www-form-urlencoded' })).status).toBe(200)
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

test('body: rejects any other type, and a missing one', async () => {
  const { signal, stream } = makeBodyApi()

  for (const type of [
    'text/plain',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    'text/json',
    'application/jsonp',
    '+json',
  ]) {
    const facts = [type, ...(await rejection(await signal('{}', { 'Content-Type': type })))]
    expect(facts).toEqual([type, 415, 'UnsupportedMediaTypeError'])
  }
  expect(await rejection((await stream(['{}'], {})).response)).toEqual([415, 'UnsupportedMediaTypeError'])
})

test('body: rejects compressed content', async () => {
  const { signal } = makeBodyApi()

  const response = await signal('{}', { 'Content-Encoding': 'gzip' })

  expect(await rejection(response)).toEqual([415, 'UnsupportedMediaTypeError'])
})

test('body: is not read further when its type is wrong', async () => {
  const { stream } = makeBodyApi()

  const { response, seen } = await stream(endless('x'), { 'Content-Type': 'text/plain' })

  expect(response.status).toBe(415)
  expect(seen).toEqual({ pulled: 1, cancelled: true })
})

test('body: is not read at all when its announced type is wrong', async () => {
  const { stream } = makeBodyApi()

  const { response, seen } = await stream(endless('x'), { 'Content-Type': 'text/plain', 'Content-Length': '1000' })

  expect(response.status).toBe(415)
  expect(seen.pulled).toBe(0)
})

test('body: rejects invalid JSON without quoting it', async () => {
  const { signal } = makeBodyApi()

  for (const body of [
    '{',
    '{"payload":s3cret}',
    'undefined',
    '{"payload":01}',
    "{'payload':1}",
    '{"payload":1}}',
    ' ',
  ]) {
    const response = await signal(body)
    const text = await response.text()
    const facts = [body, response.status, JSON.parse(text).error, text.includes('s3cret')]
    expect(facts).toEqual([body, 400, 'ValidationError', false])
  }
})

test('body: rejects invalid UTF-8', async () => {
  const { stream } = makeBodyApi()

  const invalid = await stream([new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])])
  const cutOff = await stream(['{"payload":1}', new Uint8Array([0xc3])])

  expect(await rejection(invalid.response)).toEqual([400, 'ValidationError'])
  expect(await rejection(cutOff.response)).toEqual([400, 'ValidationError'])
})

test('body: decodes a character that is split between two chunks', async () => {
  const { stream } = makeBodyApi()

  const { response } = await stream(['{"payload":"', new Uint8Array([0xc3]), new Uint8Array([0xa9]), '"}'])

  expect(response.status).toBe(200)
})

test('body: rejects JSON nested deeper than 1000 levels, and 100 000 levels', async () => {
  const { signal } = makeBodyApi()

  const deep = (levels: number) => `{"payload":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

  expect((await signal(deep(1000))).status).toBe(200)
  expect(await rejection(await signal(deep(1001)))).toEqual([400, 'ValidationError'])
  expect(await rejection(await signal(deep(100_000)))).toEqual([400, 'ValidationError'])
})

test('body: is rejected by its Content-Length before it is read', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 100 })

  const { response, seen } = await stream(endless(' '), { ...json, 'Content-Length': '101' })

  expect(await rejection(response)).toEqual([413, 'PayloadTooLargeError'])
  expect(seen.pulled).toBe(0)
})

test('body: is counted while it arrives, and canceled when it is too large', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 100 })

  const { response, seen } = await stream(endless('x'.repeat(30)))

  expect(await rejection(response)).toEqual([413, 'PayloadTooLargeError'])
  expect(seen).toEqual({ pulled: 4, cancelled: true })
})

test('body: may be as large as the limit', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 13 })

  expect((await stream(['{"payload":', '1}'])).response.status).toBe(200)
})

test('body: of a known length is checked like any other', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 100 })
  const ofLength = (length: number) => ({ ...json, 'Content-Length': String(length) })

  const valid = await stream(['{"payload":"', new Uint8Array([0xc3]), new Uint8Array([0xa9]), '"}'], ofLength(16))
  const invalid = await stream([new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])], ofLength(5))
  const truncated = await stream(['{"payload":1}', new Uint8Array([0xc3])], ofLength(14))
  const longer = await stream([' '.repeat(101)], ofLength(100))

  expect(valid.response.status).toBe(200)
  expect(await rejection(invalid.response)).toEqual([400, 'ValidationError'])
  expect(await rejection(truncated.response)).toEqual([400, 'ValidationError'])
  expect(await rejection(longer.response)).toEqual([413, 'PayloadTooLargeError'])
})

test('body: is counted, whatever its Content-Length says, when it is sent in chunks', async () => {
  const { stream } = makeBodyApi({ maxBodyBytes: 100 })

  const headers = { ...json, 'Content-Length': '13', 'Transfer-Encoding': 'chunked' }
  const { response, seen } = await stream(endless('x'.repeat(30)), headers)

  expect(await rejection(response)).toEqual([413, 'PayloadTooLargeError'])
  expect(seen).toEqual({ pulled: 4, cancelled: true })
})

test('body: is a 408 that closes the connection when it stops half way', async () => {
  const { fetch } = makeApi({ bodyTimeoutMs: 20 })
  const stalled = (headers: Record<string, string>) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"payload":')),
    })
    return fetch(inChunks(PATH, body, headers))
  }

  const ofUnknownLength = await stalled(json)
  const ofKnownLength = await stalled({ ...json, 'Content-Length': '13' })

  for (const response of [ofUnknownLength, ofKnownLength]) {
    expect(response.headers.get('Connection')).toBe('close')
    expect(await rejection(response)).toEqual([408, 'RequestTimeoutError'])
  }
})
