import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { TRUNCATED } from '../../../../src/shared/wire/trace/entry.ts'
import { createSpanBuffer } from '../../../../src/worker/tracing/span-buffer.ts'

const RUN = { namespace: 'default', runId: 'r' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('span buffer: sends added spans within half a second, in one request per run', async () => {
  const { buffer, sent } = makeBuffer()

  buffer.add(RUN, entry('a'))
  buffer.add({ namespace: 'default', runId: 'r2' }, entry('b'))
  buffer.add(RUN, entry('c'))
  await vi.advanceTimersByTimeAsync(500)

  expect(sent).toEqual([
    ['r', ['a', 'c']],
    ['r2', ['b']],
  ])
})

test('span buffer: retries spans that could not be sent, in order, and warns', async () => {
  const { buffer, sent, warnings, fail } = makeBuffer()
  fail(new Error('down'))
  buffer.add(RUN, entry('a'))
  await vi.advanceTimersByTimeAsync(500)
  buffer.add(RUN, entry('b'))
  fail(null)

  await vi.advanceTimersByTimeAsync(3000)

  expect(sent).toEqual([['r', ['a', 'b']]])
  expect(warnings).toEqual(['Spans could not be sent; will retry'])
})

test('span buffer: drops the oldest spans when it is full, and reports their number', async () => {
  const { buffer, sent, dropped, fail } = makeBuffer({ maxBytes: 250 })
  fail(new Error('down'))
  for (const name of ['a', 'b', 'c', 'd']) buffer.add(RUN, entry(name))
  fail(null)

  await vi.advanceTimersByTimeAsync(3000)

  expect(sent).toEqual([['r', ['c', 'd']]])
  expect(dropped()).toBe(2)
})

test('span buffer: truncates inputs and outputs above 64 KiB, with a marker', async () => {
  const { buffer, requests } = makeRequests()

  buffer.add(RUN, { ...entry('a'), input: 'x'.repeat(65_536), output: 'y'.repeat(65_537) })
  await buffer.flush()

  const { input, output } = JSON.parse(requests[0]?.[0] ?? '')
  expect([input, output]).toEqual(['x'.repeat(65_536), `${'y'.repeat(65_536)}${TRUNCATED}`])
})

test('span buffer: a redact that throws drops the span without failing the activity', async () => {
  const { buffer, sent, warnings } = makeBuffer({
    redact: () => {
      throw new Error('a bug in redact')
    },
  })

  buffer.add(RUN, { ...entry('a'), input: 1 })
  await vi.advanceTimersByTimeAsync(500)

  expect(sent).toEqual([])
  expect(warnings).toEqual(['A span could not be recorded'])
})

test('span buffer: limits requests to 512 KiB and 200 entries', async () => {
  const { buffer, requests } = makeRequests()
  for (let index = 0; index < 20; index++) buffer.add(RUN, { ...entry('large'), input: 'ü'.repeat(30_000) })
  for (let index = 0; index < 1000; index++) buffer.add(RUN, entry('small'))

  await buffer.flush()

  expect(requests.flat()).toHaveLength(1020)
  expect(Math.max(...requests.map((texts) => texts.length))).toBeLessThanOrEqual(200)
  expect(Math.max(...requests.map((texts) => Buffer.byteLength(texts.join(''))))).toBeLessThanOrEqual(512 * 1024)
  expect(requests.length).toBeLessThan(12)
})

test('span buffer: limits concurrent requests when many runs have spans', async () => {
  let sending = 0
  let max = 0
  const { buffer, requests } = makeRequests({
    async answer() {
      max = Math.max(max, ++sending)
      await new Promise((resolve) => setTimeout(resolve, 10))
      sending--
    },
  })
  for (let index = 0; index < 100; index++) buffer.add({ namespace: 'default', runId: `r${index}` }, entry('a'))

  const flushed = buffer.flush()
  await vi.advanceTimersByTimeAsync(1000)
  await flushed

  expect(requests).toHaveLength(100)
  expect(max).toBeLessThanOrEqual(8)
})

test('span buffer: sends few requests to an unreachable store, not one per run', async () => {
  const { buffer, requests } = makeRequests({ answer: () => Promise.reject(new Error('down')) })
  for (let index = 0; index < 1000; index++) buffer.add({ namespace: 'default', runId: `r${index}` }, entry('a'))

  const left = await buffer.flush()

  expect(requests.length).toBeLessThan(20)
  expect(left).toBe(1000)
})

test('span buffer: runs whose spans are rejected do not block other runs', async () => {
  const sent = new Set<string>()
  const answer = async (runId: string) => {
    if (runId.startsWith('bad')) throw new Error('rejected')
    sent.add(runId)
  }
  const { buffer } = makeRequests({ answer })
  for (let index = 0; index < 50; index++) buffer.add({ namespace: 'default', runId: `bad${index}` }, entry('a'))
  for (let index = 0; index < 50; index++) buffer.add({ namespace: 'default', runId: `good${index}` }, entry('a'))

  await vi.advanceTimersByTimeAsync(60_000)

  expect(sent.size).toBe(50)
})

test('span buffer: spans that are being sent count towards the limit', async () => {
  const dropped: unknown[] = []
  const warn = (_message: string, fields?: Readonly<Record<string, unknown>>) => void dropped.push(fields?.dropped)
  const { buffer, requests } = makeRequests({ answer: () => new Promise(() => {}), maxBytes: 250, warn })
  for (const name of ['a', 'b']) buffer.add(RUN, entry(name))
  void buffer.flush()
  await vi.advanceTimersByTimeAsync(0)
  for (const name of ['c', 'd']) buffer.add(RUN, entry(name))

  expect(requests.flat()).toHaveLength(2)
  expect(dropped).toEqual([1, 1])
})

test('span buffer: while a store is unreachable the oldest spans are dropped, whether or not they were tried', async () => {
  const sent: number[] = []
  let isDown = true
  const answer = async (runId: string) => {
    if (isDown) throw new Error('down')
    sent.push(Number(runId))
  }
  const { buffer } = makeRequests({ answer, maxBytes: 2000 })
  for (let index = 0; index < 60; index++) {
    buffer.add({ namespace: 'default', runId: String(index) }, entry('a'))
    if (index % 20 === 19) await buffer.flush()
  }
  isDown = false
  await buffer.flush()

  const latest = Array.from({ length: sent.length }, (_, index) => 60 - sent.length + index)
  expect(sent.length).toBeGreaterThan(0)
  expect(sent.toSorted((one, other) => one - other)).toEqual(latest)
})

function makeBuffer({ redact = (_path: string, value: unknown) => value, maxBytes = 1_000_000 } = {}) {
  const sent: [string, string[]][] = []
  const warnings: string[] = []
  let failure: Error | null = null
  let dropped = 0
  const buffer = createSpanBuffer({
    redact,
    maxBytes,
    encode: null,
    warn(message, fields) {
      warnings.push(message)
      dropped += Number(fields?.dropped ?? 0)
    },
    async send({ runId }, texts) {
      if (failure !== null) throw failure
      sent.push([runId, texts.map((text) => JSON.parse(text).name)])
    },
  })
  const fail = (error: Error | null) => {
    failure = error
  }
  return { buffer, sent, warnings, fail, dropped: () => dropped }
}

/** A buffer that records each request. */
function makeRequests({
  answer = async (_runId: string) => {},
  maxBytes = 1 << 24,
  warn = () => {},
}: RequestOptions = {}) {
  const requests: (readonly string[])[] = []
  const buffer = createSpanBuffer({
    redact: (_path, value) => value,
    maxBytes,
    encode: null,
    warn,
    async send({ runId }, texts) {
      requests.push(texts)
      await answer(runId)
    },
  })
  return { buffer, requests }
}

interface RequestOptions {
  answer?: (runId: string) => Promise<void>
  maxBytes?: number
  warn?: Parameters<typeof createSpanBuffer>[0]['warn']
}

function entry(name: string): TraceEntry {
  return { id: `r:span:${name}`, parentId: 'r:step:1', kind: 'llm', name, at: 1, phase: 'began' }
}
