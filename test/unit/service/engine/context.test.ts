import { describe, expect, test } from 'vitest'
import { createEngineClock, createPayloads } from '../../../../src/service/engine/context.ts'
import { rawPayload } from '../../../../src/service/model/raw-payload.ts'
import { parseJson } from '../../../../src/shared/lib/json.ts'
import { type Codec, type Payload, toPayload } from '../../../../src/shared/temporal/payload.ts'
import { rejection } from '../../call.ts'
import { payload, turning } from '../../shared/temporal/turning-codec.ts'

const NOW = 1_700_000_000_000

test('clock: the engine may be a minute behind until a response has been measured', () => {
  const clock = createEngineClock(() => NOW)
  clock.observe(null)
  clock.observe(NOW - 3_600_000)

  expect(clock.earliest(NOW)).toBe(NOW - 60_000)
})

test('clock: the engine is at most as far behind as the smallest difference observed', () => {
  const clock = createEngineClock(() => NOW)
  for (const lateMs of [30_000, 5, 200]) clock.observe(NOW - lateMs)

  expect(clock.earliest(NOW)).toBe(NOW - 5)
})

test('clock: an engine that is behind keeps its difference', () => {
  let now = NOW
  const clock = createEngineClock(() => now)
  clock.observe(NOW - 40_000)
  now += 1000

  expect(clock.earliest(now)).toBe(now - 40_000)
})

test('clock: a run that was just started shows how far the engine is behind, however much that is', () => {
  const clock = createEngineClock(() => NOW)
  clock.observe(NOW - 90_000, { isNew: true })
  expect(clock.earliest(NOW)).toBe(NOW - 90_000)

  clock.observe(NOW - 90_200, { isNew: true })
  clock.observe(NOW - 3_600_000)
  expect(clock.earliest(NOW)).toBe(NOW - 90_000)
})

test('clock: an engine that is ahead counts as being on time', () => {
  const clock = createEngineClock(() => NOW)
  clock.observe(NOW + 5000)

  expect(clock.earliest(NOW)).toBe(NOW)
})

test('clock: a measurement expires after ten minutes', () => {
  let now = NOW
  const clock = createEngineClock(() => now)
  clock.observe(now - 5)
  now += 599_999
  expect(clock.earliest(now)).toBe(now - 5)
  now += 1
  expect(clock.earliest(now)).toBe(now - 60_000)

  clock.observe(now - 200)
  expect(clock.earliest(now)).toBe(now - 200)
})

const PLAIN = createPayloads({ codec: null, maxBytes: 1000 })

describe('encode', () => {
  test('encode: writes json/plain, exact in its numbers', async () => {
    const encoded = await PLAIN.encode([parseJson('{"n":9007199254740993,"__proto__":1}'), 'é', null])

    expect(encoded).toEqual({
      payloads: [
        payload('json/plain', '{"n":9007199254740993,"__proto__":1}'),
        payload('json/plain', '"é"'),
        payload('json/plain', 'null'),
      ].map(plainBytes),
    })
  })

  test('encode: keeps what its sender has encoded, and the codec encodes it like all', async () => {
    const given = [
      rawPayload({ metadata: { encoding: 'json/protobuf', messageType: 'a.B' }, value: parseJson('9007199254740993') }),
      rawPayload({ metadata: { encoding: 'binary/plain' }, data: 'AQI=' }),
      rawPayload({ metadata: { encoding: 'binary/null' } }),
    ]
    const kept = [
      {
        metadata: { encoding: Buffer.from('json/protobuf'), messageType: Buffer.from('a.B') },
        data: Buffer.from('9007199254740993'),
      },
      { metadata: { encoding: Buffer.from('binary/plain') }, data: Buffer.from([1, 2]) },
      { metadata: { encoding: Buffer.from('binary/null') }, data: Buffer.from('') },
    ].map(plainBytes)
    const seen: Payload[] = []
    const codec: Codec = {
      encode: async (payloads) => {
        seen.push(...payloads)
        return payloads
      },
      decode: async (payloads) => payloads,
    }

    const encoded = await PLAIN.encode(given)
    await createPayloads({ codec, maxBytes: 1000 }).encode(given)

    expect(encoded?.payloads?.map(plainBytes)).toEqual(kept)
    expect(seen.map(plainBytes)).toEqual(kept)
  })

  test('encode: an empty list of values is an empty list of payloads', async () => {
    expect(await PLAIN.encode([])).toBeNull()
  })

  test('encode: accepts exactly the limit: data, metadata and their framing, of all payloads together (threat 56)', async () => {
    const wrapping = 10 + 12
    const bytes = 2 * ('encoding'.length + 'json/plain'.length + wrapping) + '"é"'.length + 1 + '1'.length

    expect(await createPayloads({ codec: null, maxBytes: bytes }).encode(['é', 1])).not.toBeNull()
    expect(await rejection(createPayloads({ codec: null, maxBytes: bytes - 1 }).encode(['é', 1]))).toEqual({
      error: 'PayloadTooLargeError',
      message: `The payload is ${bytes} bytes as encoded for the engine; the limit is ${bytes - 1} bytes. Store large values elsewhere and send a reference`,
      source: 'gateway',
    })
  })

  test('encode: measures a number as JSON writes it, not as it was sent', async () => {
    const payloads = createPayloads({ codec: null, maxBytes: 60 })

    expect(await payloads.encode([1])).not.toBeNull()
    expect((await rejection(payloads.encode([parseJson('1e20')]))).error).toBe('PayloadTooLargeError')
  })

  test('encode: measures many small values by their size on the wire', async () => {
    const payloads = createPayloads({ codec: null, maxBytes: 2 * 1024 * 1024 })

    // 200 kB of JSON, and 2.9 MB of protobuf: as an update it would be taken and then fail its run for ever.
    expect((await rejection(payloads.encode(Array.from({ length: 100_000 }, () => 0)))).error).toBe(
      'PayloadTooLargeError',
    )
  })

  test('encode: measures the output of the codec', async () => {
    const growing: Codec = { ...turning, encode: async () => [payload('binary/grown', new Uint8Array(1001))] }

    const payloads = createPayloads({ codec: growing, maxBytes: 1000 })

    expect((await rejection(payloads.encode([1]))).error).toBe('PayloadTooLargeError')
  })
})

describe('encoded outputs', () => {
  const encoded = payload('binary/encrypted', 'x')
  const reported = async (
    payloads: Payload[],
    { codec = null, workflowId = 'orders-17' }: { codec?: Codec | null; workflowId?: string | null } = {},
  ) => {
    const seen: unknown[] = []
    await createPayloads({ codec, maxBytes: 1000, onEncodedOutput: (output) => seen.push(output) }).decodeOutput(
      payloads,
      workflowId ?? undefined,
    )
    return seen
  }

  test('encoded outputs: an output that needs a codec is reported if none is configured', async () => {
    expect(await reported([toPayload(1), encoded])).toEqual([{ encoding: 'binary/encrypted', workflowId: 'orders-17' }])
  })

  test('encoded outputs: nothing is reported with a codec, or if no response is sent', async () => {
    expect(await reported([encoded], { codec: { ...turning, decode: async (given) => given } })).toEqual([])
    expect(await reported([encoded], { workflowId: null })).toEqual([])
  })

  test('encoded outputs: the encodings of the SDKs without a codec are not reported', async () => {
    const reference = payload('json/external-storage-reference', '{}')
    const plain = [
      ...['json/plain', 'json/protobuf', 'binary/null', 'binary/plain', 'binary/protobuf'].map((name) =>
        payload(name, ''),
      ),
      {},
    ]

    expect(await reported([...plain, reference, payload('json/plain', '{')])).toEqual([])
  })
})

/** As `encode` makes them: bytes that are no Buffer. */
function plainBytes({ metadata, data }: Payload): Payload {
  const plain = Object.entries(metadata ?? {}).map(([key, bytes]) => [key, new Uint8Array(bytes)])
  return { metadata: Object.fromEntries(plain), data: new Uint8Array(data ?? []) }
}
