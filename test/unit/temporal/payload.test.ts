import { expect, test } from 'vitest'
import { type Codec, createPayloadReader, type Payload, toPayload } from '../../../src/temporal/payload.ts'
import { payload, turning } from './turning-codec.ts'

const PLAIN = createPayloadReader(null)

async function decoded(...payloads: Payload[]): Promise<unknown> {
  return (await PLAIN.decode(payloads))[0]
}

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

test('decode: shows an unknown encoding as bytes', async () => {
  expect(await decoded(payload('binary/plain', new Uint8Array([0, 255])))).toEqual({
    encoding: 'binary/plain',
    data: 'AP8=',
  })
})

test('decode: shows a payload without encoding or data as bytes', async () => {
  expect(await PLAIN.decode([{ data: Buffer.from('a') }, {}])).toEqual([
    { encoding: '', data: 'YQ==' },
    { encoding: '', data: '' },
  ])
})

test('decode: shows invalid JSON as bytes', async () => {
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

test('decode: shows invalid UTF-8 as bytes', async () => {
  expect(await decoded(payload('json/plain', new Uint8Array([0x22, 0xff, 0x22])))).toEqual({
    encoding: 'json/plain',
    data: 'Iv8i',
  })
})

test('decode: shows JSON that is nested too deep as bytes', async () => {
  const deep = '['.repeat(1001) + ']'.repeat(1001)

  expect(await decoded(payload('json/plain', deep))).toEqual({
    encoding: 'json/plain',
    data: Buffer.from(deep).toString('base64'),
  })
})

test('decode: shows many bytes without truncation', async () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index)

  expect(await decoded(payload('binary/plain', bytes))).toEqual({
    encoding: 'binary/plain',
    data: Buffer.from(bytes).toString('base64'),
  })
})

test('decode: an absent list is empty', async () => {
  expect(await PLAIN.decode(null)).toEqual([])
  expect(await PLAIN.decode(undefined)).toEqual([])
})

test('codec: decodes its own output', async () => {
  const encoded = await turning.encode([{ secret: 1 }, 'two'].map(toPayload))

  expect(encoded[0]?.metadata?.encoding).toEqual(Buffer.from('binary/turned'))
  expect(await createPayloadReader(turning).decode(encoded)).toEqual([{ secret: 1 }, 'two'])
})

test('codec: is not called for payloads that do not need it', async () => {
  const unasked: Codec = { ...turning, decode: () => Promise.reject(new Error('asked')) }

  const payloads = createPayloadReader(unasked)

  const found = await payloads.decode([toPayload(1), payload('binary/null', ''), payload('json/protobuf', '{}')])
  expect(found).toEqual([1, null, {}])
  expect(await payloads.decode([])).toEqual([])
})

test('codec: gets all payloads of a call when one of them needs it', async () => {
  const asked: number[] = []
  const counting: Codec = {
    ...turning,
    decode: async (payloads) => {
      asked.push(payloads.length)
      return payloads
    },
  }

  await createPayloadReader(counting).decode([toPayload(1), payload('binary/turned', 'x')])

  expect(asked).toEqual([2])
})
