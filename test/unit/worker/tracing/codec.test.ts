import { expect, test } from 'vitest'
import { createHistoryReader } from '../../../../src/shared/temporal/history/reader.ts'
import type { TemporalEvent } from '../../../../src/shared/temporal/outcome.ts'
import type { Codec, Payload, PayloadReader } from '../../../../src/shared/temporal/payload.ts'
import { fromPayloadJson } from '../../../../src/shared/temporal/payload-json.ts'
import { createTraceReader } from '../../../../src/worker/tracing/codec.ts'
import { toRedacted } from '../../../../src/worker/tracing/redact.ts'
import { payload, turning } from '../../shared/temporal/turning-codec.ts'

const TEXTS: Payload[] = [
  payload('text/plain', 'hunter2'),
  payload('json/plain', '{"password":"hunter2"'),
  payload('json/plain', `[${'['.repeat(1200)}"hunter2"${']'.repeat(1200)}]`),
  payload('binary/plain', '{"password":"hunter2"}'),
]
const BYTES = payload('binary/plain', new Uint8Array([0, 255]))
const LIMITS = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: 100 }

/** The first entry of a run with these arguments, as it is archived. */
async function archived(payloads: Payload[], reader: PayloadReader) {
  const started = { input: { payloads }, workflowType: { name: 'order' } }
  const event = { eventId: 1 as never, workflowExecutionStartedEventAttributes: started } satisfies TemporalEvent
  const [entry] = await createHistoryReader({ workflowId: 'w', runId: 'r' }, reader).entriesOf([event])
  if (entry === undefined) throw new Error('the run has no entry')
  return toRedacted(entry, (_path, value) => value, LIMITS)
}

test('createTraceReader: text that cannot be read keeps its encoding only (threat 86)', async () => {
  const { input, encoded } = await archived(TEXTS, createTraceReader(null, { redacted: false }))

  expect(input).toEqual(
    ['text/plain', 'json/plain', 'json/plain', 'binary/plain'].map((encoding) => ({ encoding, data: '[redacted]' })),
  )
  expect(encoded).toBeUndefined()
})

test('createTraceReader: NaN is read, and secrets are redacted beside it', async () => {
  const scores = payload('json/plain', '{"password":"hunter2","score":NaN}')

  const { input } = await archived([scores], createTraceReader(null, { redacted: false }))

  expect(input).toEqual({ password: '[redacted]', score: 'NaN' })
})

test('createTraceReader: bytes are kept as payloads; a worker with redact redacts them', async () => {
  const kept = await archived([BYTES, payload('json/plain', '1')], createTraceReader(null, { redacted: false }))
  const redacted = await archived([BYTES, ...TEXTS.slice(0, 1)], createTraceReader(null, { redacted: true }))

  expect(kept).toMatchObject({ input: [{ data: 'AP8=' }, 1], encoded: ['/input/0'] })
  expect(redacted.input).toEqual(['[redacted]', { encoding: 'text/plain', data: '[redacted]' }])
})

test('createTraceReader: with a codec, what it decodes decides, and bytes stay encoded', async () => {
  const decoded = new Map([
    ['text', payload('text/plain', 'hunter2')],
    ['bytes', BYTES],
  ])
  const named: Codec = {
    ...turning,
    decode: async (given) => given.map(({ data }) => decoded.get(Buffer.from(data ?? []).toString()) ?? BYTES),
  }

  const { input, encoded } = await archived(
    [payload('aes', 'text'), payload('aes', 'bytes')],
    createTraceReader(named, { redacted: false }),
  )

  expect(encoded).toEqual(['/input/1'])
  const [text, bytes] = input as [unknown, object]
  expect(text).toEqual({ encoding: 'text/plain', data: '[redacted]' })
  expect(Buffer.from(fromPayloadJson(bytes).data ?? []).toString()).toBe('bytes')
})
