import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/lib/exact-json.ts'
import { type Codec, createPayloads, type Payload, toPayload } from '../../../src/temporal/payload.ts'
import { refusal } from '../call.ts'

const PLAIN = createPayloads({ codec: null, maxBytes: 1000 })

function payload(encoding: string, data: string | Uint8Array): Payload {
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }
}

async function decoded(...payloads: Payload[]): Promise<unknown> {
  return (await PLAIN.decode(payloads))[0]
}

/** Turns every byte of a payload over. */
const turning: Codec = {
  encode: async (payloads) => payloads.map(({ data }) => payload('binary/turned', turned(data))),
  decode: async (payloads) => payloads.map(({ data }) => payload('json/plain', turned(data))),
}

function turned(data: Uint8Array | null | undefined): Uint8Array {
  return Uint8Array.from(data ?? [], (byte) => byte ^ 0xff)
}

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

  test('encode: no values are no payloads', async () => {
    expect(await PLAIN.encode([])).toBeNull()
  })

  test('encode: takes exactly the limit: data, metadata and what wraps them, of all payloads together', async () => {
    const wrapping = 10 + 12
    const bytes = 2 * ('encoding'.length + 'json/plain'.length + wrapping) + '"é"'.length + 1 + '1'.length

    expect(await createPayloads({ codec: null, maxBytes: bytes }).encode(['é', 1])).not.toBeNull()
    expect(await refusal(createPayloads({ codec: null, maxBytes: bytes - 1 }).encode(['é', 1]))).toEqual({
      error: 'PayloadTooLargeError',
      message: `The payload is ${bytes} bytes as encoded for the engine; at most ${bytes - 1} are taken`,
      source: 'gateway',
    })
  })

  test('encode: measures what JSON makes of a number, not how it was sent', async () => {
    const payloads = createPayloads({ codec: null, maxBytes: 60 })

    expect(await payloads.encode([1])).not.toBeNull()
    expect((await refusal(payloads.encode([parseJson('1e20')]))).error).toBe('PayloadTooLargeError')
  })

  test('encode: many small values weigh what they weigh on the wire', async () => {
    const payloads = createPayloads({ codec: null, maxBytes: 2 * 1024 * 1024 })

    // 200 kB of JSON, and 2.9 MB of protobuf: as an update it would be taken and then fail its run for ever.
    expect((await refusal(payloads.encode(Array.from({ length: 100_000 }, () => 0)))).error).toBe(
      'PayloadTooLargeError',
    )
  })

  test('encode: measures what the codec made', async () => {
    const growing: Codec = { ...turning, encode: async () => [payload('binary/grown', new Uint8Array(1001))] }

    const payloads = createPayloads({ codec: growing, maxBytes: 1000 })

    expect((await refusal(payloads.encode([1]))).error).toBe('PayloadTooLargeError')
  })
})

describe('decode', () => {
  test('decode: reads json/plain, exact in its numbers', async () => {
    expect(JSON.stringify(await decoded(payload('json/plain', '{"n":9007199254740993,"x":1e400}')))).toBe(
      '{"n":9007199254740993,"x":1e400}',
    )
  })

  test('decode: binary/null is null', async () => {
    expect(
      await PLAIN.decode([payload('binary/null', ''), { metadata: { encoding: Buffer.from('binary/null') } }]),
    ).toEqual([null, null])
  })

  test('decode: shows json/protobuf as its JSON', async () => {
    expect(await decoded(payload('json/protobuf', '{"seconds":"1"}'))).toEqual({ seconds: '1' })
  })

  test('decode: shows a foreign encoding as its bytes', async () => {
    expect(await decoded(payload('binary/plain', new Uint8Array([0, 255])))).toEqual({
      encoding: 'binary/plain',
      data: 'AP8=',
    })
  })

  test('decode: shows a payload without an encoding, and one without anything, as its bytes', async () => {
    expect(await PLAIN.decode([{ data: Buffer.from('a') }, {}])).toEqual([
      { encoding: '', data: 'YQ==' },
      { encoding: '', data: '' },
    ])
  })

  test('decode: shows what claims to be JSON and is none as its bytes', async () => {
    expect(
      await PLAIN.decode([
        payload('json/plain', '{'),
        payload('json/plain', ''),
        { metadata: { encoding: Buffer.from('json/plain') } },
      ]),
    ).toEqual([
      { encoding: 'json/plain', data: 'ew==' },
      { encoding: 'json/plain', data: '' },
      { encoding: 'json/plain', data: '' },
    ])
  })

  test('decode: shows what is not UTF-8 as its bytes', async () => {
    expect(await decoded(payload('json/plain', new Uint8Array([0x22, 0xff, 0x22])))).toEqual({
      encoding: 'json/plain',
      data: 'Iv8i',
    })
  })

  test('decode: shows what is nested too deep to be sent as its bytes', async () => {
    const deep = '['.repeat(1001) + ']'.repeat(1001)

    expect(await decoded(payload('json/plain', deep))).toEqual({
      encoding: 'json/plain',
      data: Buffer.from(deep).toString('base64'),
    })
  })

  test('decode: shows many bytes whole', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index)

    expect(await decoded(payload('binary/plain', bytes))).toEqual({
      encoding: 'binary/plain',
      data: Buffer.from(bytes).toString('base64'),
    })
  })

  test('decode: no payloads are no values', async () => {
    expect(await PLAIN.decode(null)).toEqual([])
    expect(await PLAIN.decode(undefined)).toEqual([])
  })
})

describe('codec', () => {
  test('codec: what it encoded it decodes', async () => {
    const payloads = createPayloads({ codec: turning, maxBytes: 1000 })

    const encoded = await payloads.encode([{ secret: 1 }, 'two'])

    expect(encoded?.payloads?.[0]?.metadata?.encoding).toEqual(Buffer.from('binary/turned'))
    expect(await payloads.decode(encoded?.payloads)).toEqual([{ secret: 1 }, 'two'])
  })

  test('codec: is not asked about payloads that need none', async () => {
    const unasked: Codec = { ...turning, decode: () => Promise.reject(new Error('asked')) }

    const payloads = createPayloads({ codec: unasked, maxBytes: 1000 })

    expect(await payloads.decode([toPayload(1), payload('binary/null', ''), payload('json/protobuf', '{}')])).toEqual([
      1,
      null,
      {},
    ])
    expect(await payloads.decode([])).toEqual([])
  })

  test('codec: is asked about all payloads of a call once one of them needs it', async () => {
    const asked: number[] = []
    const counting: Codec = {
      ...turning,
      decode: async (payloads) => {
        asked.push(payloads.length)
        return payloads
      },
    }

    await createPayloads({ codec: counting, maxBytes: 1000 }).decode([toPayload(1), payload('binary/turned', 'x')])

    expect(asked).toEqual([2])
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

  test('encoded outputs: one that needs a codec is reported where there is none', async () => {
    expect(await reported([toPayload(1), encoded])).toEqual([{ encoding: 'binary/encrypted', workflowId: 'orders-17' }])
  })

  test('encoded outputs: with a codec, and where nobody is answered, nothing is reported', async () => {
    expect(await reported([encoded], { codec: { ...turning, decode: async (given) => given } })).toEqual([])
    expect(await reported([encoded], { workflowId: null })).toEqual([])
  })

  test('encoded outputs: what the SDKs write without a codec is not reported', async () => {
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
  return { metadata: { encoding: new Uint8Array(metadata?.encoding ?? []) }, data: new Uint8Array(data ?? []) }
}
