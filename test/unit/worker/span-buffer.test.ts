import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TraceEntry } from '../../../src/protocol/trace-entry.ts'
import { CUT } from '../../../src/worker/redact.ts'
import { createSpanBuffer } from '../../../src/worker/span-buffer.ts'

const RUN = { workflowId: 'w', runId: 'r' }

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('span buffer: what is added is sent within half a second, together, run by run', async () => {
  const { buffer, sent } = makeBuffer()

  buffer.add(RUN, entry('a'))
  buffer.add({ workflowId: 'w2', runId: 'r2' }, entry('b'))
  buffer.add(RUN, entry('c'))
  await vi.advanceTimersByTimeAsync(500)

  expect(sent).toEqual([
    ['r', ['a', 'c']],
    ['r2', ['b']],
  ])
})

test('span buffer: what can not be sent is tried again, in its order, and told', async () => {
  const { buffer, sent, troubles, fail } = makeBuffer()
  fail(new Error('down'))
  buffer.add(RUN, entry('a'))
  await vi.advanceTimersByTimeAsync(500)
  buffer.add(RUN, entry('b'))
  fail(null)

  await vi.advanceTimersByTimeAsync(3000)

  expect(sent).toEqual([['r', ['a', 'b']]])
  expect(troubles).toEqual(['Spans could not be sent to the key-value store; they will be tried again'])
})

test('span buffer: beyond its bound the oldest are dropped, and how many is told', async () => {
  const { buffer, sent, troubles, fail } = makeBuffer({ maxBytes: 250 })
  fail(new Error('down'))
  for (const name of ['a', 'b', 'c', 'd']) buffer.add(RUN, entry(name))
  fail(null)

  await vi.advanceTimersByTimeAsync(3000)

  expect(sent).toEqual([['r', ['c', 'd']]])
  expect(troubles).toContain('Spans were dropped: they can be kept no longer and could not be sent')
})

test('span buffer: inputs and outputs above 64 KiB are cut with a mark', async () => {
  const texts: string[] = []
  const send = async (_run: unknown, sent: readonly string[]) => void texts.push(...sent)
  const buffer = createSpanBuffer({ send, redact: (_path, value) => value, trouble: () => {} })

  buffer.add(RUN, { ...entry('a'), input: 'x'.repeat(65_536), output: 'y'.repeat(65_537) })
  await buffer.flush()

  const { input, output } = JSON.parse(texts[0] ?? '')
  expect([input, output]).toEqual(['x'.repeat(65_536), `${'y'.repeat(65_536)}${CUT}`])
})

test('span buffer: a redaction that throws costs the span, not the activity', async () => {
  const { buffer, sent, troubles } = makeBuffer({
    redact: () => {
      throw new Error('a bug in the hook')
    },
  })

  buffer.add(RUN, { ...entry('a'), input: 1 })
  await vi.advanceTimersByTimeAsync(500)

  expect(sent).toEqual([])
  expect(troubles).toEqual(['A span could not be recorded'])
})

test('span buffer: stop sends what waits', async () => {
  const { buffer, sent } = makeBuffer()
  buffer.add(RUN, entry('a'))

  await buffer.stop()

  expect(sent).toEqual([['r', ['a']]])
})

function makeBuffer({ redact = (_path: string, value: unknown) => value, maxBytes = 1_000_000 } = {}) {
  const sent: [string, string[]][] = []
  const troubles: string[] = []
  let failure: Error | null = null
  const buffer = createSpanBuffer({
    redact,
    maxBytes,
    trouble: (what) => troubles.push(what),
    async send({ runId }, texts) {
      if (failure !== null) throw failure
      sent.push([runId, texts.map((text) => JSON.parse(text).name)])
    },
  })
  const fail = (error: Error | null) => {
    failure = error
  }
  return { buffer, sent, troubles, fail }
}

function entry(name: string): TraceEntry {
  return { id: `r:span:${name}`, parentId: 'r:step:1', kind: 'llm', name, at: 1, phase: 'began' }
}
