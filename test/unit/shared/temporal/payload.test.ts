import { expect, test } from 'vitest'
import { decodeFailure } from '../../../../src/shared/temporal/failure.ts'
import {
  type Codec,
  createPayloadReader,
  decodeProtocolMemo,
  fromMemo,
  isReference,
  MAX_DOWNLOAD_BYTES,
  memoFields,
  type Payload,
  resolveReferences,
  storedElsewhere,
  toMemo,
  toPayload,
  userFields,
} from '../../../../src/shared/temporal/payload.ts'
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

test('decode: reads NaN, Infinity and -Infinity as strings, beside exact numbers', async () => {
  for (const encoding of ['json/plain', 'json/protobuf']) {
    const json = '{"password":"p","scores":[NaN,-Infinity,9007199254740993],"text":"NaN"}'
    expect(JSON.stringify(await decoded(payload(encoding, json)))).toBe(
      '{"password":"p","scores":["NaN","-Infinity",9007199254740993],"text":"NaN"}',
    )
  }
  expect(await decoded(payload('json/plain', 'Infinity'))).toBe('Infinity')
  expect(await PLAIN.decodeJson([payload('json/plain', '[NaN]'), payload('text/plain', 'NaN')])).toEqual([
    ['NaN'],
    undefined,
  ])
})

test('decode: through a codec, NaN is read too', async () => {
  const encoded = await turning.encode([payload('json/plain', '{"score":NaN}')])

  expect(await createPayloadReader(turning).decode(encoded)).toEqual([{ score: 'NaN' }])
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

const TYPE = 'temporal.api.sdk.v1.ExternalStorageReference'

/** `sizes` as the transports and codec servers tell them: numbers, text, objects that are text. */
function reference(
  sizes: unknown[] = [],
  { encoding = 'json/protobuf', messageType = TYPE as string | null } = {},
): Payload {
  return {
    metadata: {
      encoding: Buffer.from(encoding),
      ...(messageType !== null && { messageType: Buffer.from(messageType) }),
    },
    data: Buffer.from('{"driverName":"s3","claimData":{"key":"secret-place"}}'),
    externalPayloads: sizes.map((sizeBytes) => ({ sizeBytes })) as Payload['externalPayloads'] & object,
  }
}

const rejecting = () => Promise.reject(new Error('downloaded'))

test('storedElsewhere: reads the size from every form of reference', () => {
  expect(
    [reference([5]), reference(['5']), reference([{ toString: () => '5' }]), reference([2, '3']), reference()].map(
      storedElsewhere,
    ),
  ).toEqual([5, 5, 5, 5, 0].map((sizeBytes) => ({ sizeBytes })))
})

test('storedElsewhere: recognizes a payload that only lists external payloads', () => {
  expect(storedElsewhere({ ...toPayload(1), externalPayloads: reference([7]).externalPayloads ?? [] })).toEqual({
    sizeBytes: 7,
  })
})

test('storedElsewhere: is null for a payload of another type', () => {
  for (const payload of [
    toPayload(1),
    {},
    reference([], { messageType: 'my.Message' }),
    reference([], { encoding: 'json/plain' }),
  ])
    expect([storedElsewhere(payload), isReference(payload)]).toEqual([null, false])
})

test('isReference: accepts both protobuf encodings, and that of the first SDK with references', () => {
  const first = reference([], { encoding: 'json/external-storage-reference', messageType: null })

  const verdicts = [reference(), reference([], { encoding: 'binary/protobuf' }), first].map(isReference)
  expect(verdicts).toEqual([true, true, true])
})

test('resolveReferences: replaces references by the payloads found', async () => {
  const [one, two] = [reference([1]), reference([2])]
  const asked: Payload[][] = []

  const resolved = await resolveReferences([one, toPayload('between'), two], async (references) => {
    asked.push(references)
    return ['first', 'last'].map(toPayload)
  })

  expect(resolved).toEqual(['first', 'between', 'last'].map(toPayload))
  expect(asked).toEqual([[one, two]])
})

test('resolveReferences: downloads nothing without references, and keeps references that are not found', async () => {
  expect(await resolveReferences([toPayload(1)], rejecting)).toEqual([toPayload(1)])
  expect(await resolveReferences([reference([1])], async () => null)).toEqual([reference([1])])
})

test('resolveReferences: downloads no more than the limit (threat 90)', async () => {
  const payloads = [
    reference([MAX_DOWNLOAD_BYTES - 1]),
    reference([2]),
    reference([1]),
    reference([MAX_DOWNLOAD_BYTES + 1]),
  ]
  const asked: Payload[][] = []

  const resolved = await resolveReferences(payloads, async (references) => {
    asked.push(references)
    return references.map(() => toPayload('found'))
  })

  expect(asked).toEqual([[payloads[0], payloads[2]]])
  expect(resolved).toEqual([toPayload('found'), payloads[1], toPayload('found'), payloads[3]])
})

test('decode: never shows the content of a reference (threat 90)', async () => {
  const payloads = createPayloadReader(null)
  const both = [toPayload(1), reference([9])]

  expect(await payloads.decode(both)).toEqual([1, null])
  expect(await payloads.decodeEach(both)).toEqual([{ value: 1 }, { value: null, storedElsewhere: { sizeBytes: 9 } }])
  expect(await payloads.decodeOutput([reference([9])])).toEqual({ value: null, storedElsewhere: { sizeBytes: 9 } })
  expect(await payloads.decodeJson(both)).toEqual([1, undefined])
})

test('decode: does not decode references, and downloads a reference that decoding reveals', async () => {
  const wrapped: Payload = { metadata: { encoding: Buffer.from('binary/wrapped') }, data: Buffer.from('') }
  const asked: string[] = []
  const codec: Codec = {
    encode: async (given) => given,
    async decode(given) {
      asked.push(`decode ${given.length}`)
      return given.map(() => reference([2]))
    },
    async download(given) {
      asked.push(`download ${given.length}`)
      return given.map((_, index) => toPayload(index))
    },
  }

  expect(await createPayloadReader(codec).decode([reference([1]), wrapped])).toEqual([0, 1])
  expect(asked).toEqual(['decode 1', 'download 2'])
})

test('decodeFailure: keeps the message when the encoded one is stored elsewhere', async () => {
  const payloads = createPayloadReader(null)

  expect(
    await decodeFailure({ message: 'Encoded failure', encodedAttributes: reference([1]) }, payloads),
  ).toMatchObject({ message: 'Encoded failure' })
})

test('fromMemo: reads what toMemo wrote, and ignores a missing memo', () => {
  expect(fromMemo(toMemo({ hash: 'abc', traces: { local: null } }))).toEqual(
    new Map<string, unknown>([
      ['hash', 'abc'],
      ['traces', { local: null }],
    ]),
  )
  expect(fromMemo(null)).toEqual(new Map())
})

test('fromMemo: a field that does not hold JSON is undefined', () => {
  const fields = { bytes: { metadata: { encoding: Buffer.from('binary/plain') }, data: new Uint8Array([1]) } }

  expect(fromMemo({ fields })).toEqual(new Map([['bytes', undefined]]))
})

test("decodeProtocolMemo: decodes the protocol's fields but the questions, and leaves the user's alone", async () => {
  const memo = toMemo({ trace: { local: '/a.json' }, $asks: { k: 1 }, mine: 'x' })

  const decoded = await decodeProtocolMemo('order', memoFields(memo), createPayloadReader(null))

  expect(decoded).toEqual(new Map([['trace', { local: '/a.json' }]]))
  expect([...userFields('order', memoFields(memo), decoded).keys()]).toEqual(['mine'])
})

test('userFields: trace is a field of the user unless it is the location of a trace', async () => {
  const reader = createPayloadReader(null)
  const shown = ['abc', { traceId: 'abc' }, { destinations: { remote: 's3://b/a.json' } }, { remote: 's3://b/a.json' }]

  const keys = shown.map(async (trace) => {
    const fields = memoFields(toMemo({ trace, note: 'x' }))
    return [...userFields('order', fields, await decodeProtocolMemo('order', fields, reader)).keys()]
  })

  expect(await Promise.all(keys)).toEqual([['trace', 'note'], ['trace', 'note'], ['note'], ['note']])
})
