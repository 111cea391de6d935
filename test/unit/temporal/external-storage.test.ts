import { expect, test } from 'vitest'
import {
  isReference,
  MAX_DOWNLOAD_BYTES,
  resolveReferences,
  storedElsewhere,
} from '../../../src/temporal/external-storage.ts'
import { decodeFailure } from '../../../src/temporal/failure.ts'
import { type Codec, createPayloadReader, type Payload, toPayload } from '../../../src/temporal/payload.ts'

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

test('resolveReferences: downloads no more than the limit', async () => {
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

test('decode: never shows the content of a reference', async () => {
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
