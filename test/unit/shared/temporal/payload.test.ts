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

const DEEP = '['.repeat(1001) + ']'.repeat(1001)
const MANY = Uint8Array.from({ length: 200_000 }, (_, index) => index)
const asBytes = (encoding: string, data: string | Uint8Array) => ({
  encoding,
  data: Buffer.from(data).toString('base64'),
})

test.for<[what: string, given: Payload, value: unknown]>([
  ['null', payload('binary/null', ''), null],
  ['null without data', { metadata: { encoding: Buffer.from('binary/null') } }, null],
  ['json/protobuf', payload('json/protobuf', '{"seconds":"1"}'), { seconds: '1' }],
  ['Infinity', payload('json/plain', 'Infinity'), 'Infinity'],
  [
    'an unknown encoding',
    payload('binary/plain', new Uint8Array([0, 255])),
    asBytes('binary/plain', new Uint8Array([0, 255])),
  ],
  ['many bytes', payload('binary/plain', MANY), asBytes('binary/plain', MANY)],
  ['no encoding', { data: Buffer.from('a') }, asBytes('', 'a')],
  ['nothing', {}, asBytes('', '')],
  ['invalid JSON', payload('json/plain', '{'), asBytes('json/plain', '{')],
  ['empty JSON', payload('json/plain', ''), asBytes('json/plain', '')],
  ['JSON without data', { metadata: { encoding: Buffer.from('json/plain') } }, asBytes('json/plain', '')],
  ['JSON that is nested too deep', payload('json/plain', DEEP), asBytes('json/plain', DEEP)],
  [
    'invalid UTF-8',
    payload('json/plain', new Uint8Array([0x22, 0xff, 0x22])),
    asBytes('json/plain', new Uint8Array([0x22, 0xff, 0x22])),
  ],
])('decode: shows %s', async ([, given, value]) => {
  expect(await PLAIN.decode([given])).toEqual([value])
})

test.for(['json/plain', 'json/protobuf'])('decode: reads NaN of %s as text, beside exact numbers', async (encoding) => {
  const json = '{"password":"p","scores":[NaN,-Infinity,9007199254740993,1e400],"text":"NaN"}'
  const shown = '{"password":"p","scores":["NaN","-Infinity",9007199254740993,1e400],"text":"NaN"}'

  const [own] = await PLAIN.decode([payload(encoding, json)])
  const [ofCodec] = await createPayloadReader(turning).decode(await turning.encode([payload(encoding, json)]))

  expect([JSON.stringify(own), JSON.stringify(ofCodec)]).toEqual([shown, shown])
  expect(await PLAIN.decodeJson([payload(encoding, '[NaN]'), payload('text/plain', 'NaN')])).toEqual([
    ['NaN'],
    undefined,
  ])
})

test('decode: an absent list is empty', async () => {
  expect([await PLAIN.decode(null), await PLAIN.decode(undefined)]).toEqual([[], []])
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

test.for<[what: string, given: Payload, sizeBytes: number | null, isReference: boolean]>([
  ['a number', reference([5]), 5, true],
  ['text', reference(['5']), 5, true],
  ['an object that is text', reference([{ toString: () => '5' }]), 5, true],
  ['several', reference([2, '3']), 5, true],
  ['no size', reference(), 0, true],
  ['binary protobuf', reference([], { encoding: 'binary/protobuf' }), 0, true],
  ['the first SDK', reference([], { encoding: 'json/external-storage-reference', messageType: null }), 0, true],
  ['a payload that lists others', { ...toPayload(1), externalPayloads: [{ sizeBytes: 7 as never }] }, 7, false],
  ['a value', toPayload(1), null, false],
  ['nothing', {}, null, false],
  ['another message', reference([], { messageType: 'my.Message' }), null, false],
  ['another encoding', reference([], { encoding: 'json/plain' }), null, false],
])('storedElsewhere, isReference: a reference with %s', ([, given, sizeBytes, is]) => {
  expect([storedElsewhere(given), isReference(given)]).toEqual([sizeBytes === null ? null : { sizeBytes }, is])
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
