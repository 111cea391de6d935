import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import { type Payload, toDecoded, toPayload } from '../../../../src/shared/temporal/payload.ts'
import { payloadFromWire, payloadToWire } from '../../../../src/shared/temporal/payload-wire.ts'

const { Payload: Official } = proto.temporal.api.common.v1

const bytes = (text: string) => new TextEncoder().encode(text)

const officialWire = (payload: Payload) => Buffer.from(Official.encode(payload).finish()).toString('base64')

/** As the official library reads it, with plain arrays of bytes. */
function officialFromWire(base64: string): Payload {
  const { metadata, data } = Official.decode(Buffer.from(base64, 'base64'))
  const entries = Object.entries(metadata).map(([key, value]) => [key, Uint8Array.from(value)])
  return { metadata: Object.fromEntries(entries), data: Uint8Array.from(data) }
}

const PAYLOADS: Record<string, Payload> = {
  json: toPayload({ text: 'Grüße, 世界 👋', list: [1, null] }),
  'no metadata': { metadata: {}, data: bytes('raw') },
  'no data': { metadata: { encoding: bytes('binary/null') }, data: new Uint8Array() },
  'several entries': {
    metadata: { encoding: bytes('json/protobuf'), messageType: bytes('some.Message'), empty: new Uint8Array() },
    data: bytes('{}'),
  },
  'lengths of several bytes': {
    metadata: { [`key${'k'.repeat(300)}`]: bytes('v'.repeat(20_000)) },
    data: new Uint8Array(70_000).fill(255),
  },
}

test.each(Object.entries(PAYLOADS))(
  'payload on the wire, %s: is read and written as by the official library',
  (_, payload) => {
    expect(payloadFromWire(officialWire(payload))).toEqual(payload)
    expect(officialFromWire(payloadToWire(payload))).toEqual(payload)
  },
)

test('payload on the wire: fields that are absent are empty', () => {
  expect(payloadFromWire(officialWire({}))).toEqual({ metadata: {}, data: new Uint8Array() })
  expect(payloadFromWire(payloadToWire({}))).toEqual({ metadata: {}, data: new Uint8Array() })
})

test('payload on the wire: a reference to external storage is ignored', () => {
  const stored = officialWire({ ...toPayload('x'), externalPayloads: [{ sizeBytes: 5 as never }] })

  expect(toDecoded(payloadFromWire(stored)).value).toBe('x')
})

test('payload on the wire: fields of unknown numbers and of every wire type are ignored', () => {
  const unknown = [
    [0x20, 0xac, 0x02], // field 4, varint
    [0x29, 1, 2, 3, 4, 5, 6, 7, 8], // field 5, 64 bits
    [0x32, 2, 1, 2], // field 6, length-delimited
    [0x3d, 1, 2, 3, 4], // field 7, 32 bits
  ].flat()
  const known = Official.encode(toPayload('x')).finish()
  const wire = Buffer.concat([Uint8Array.from(unknown), known, Uint8Array.from(unknown)]).toString('base64')

  expect(payloadFromWire(wire)).toEqual(officialFromWire(wire))
})

test.each([
  ['text', 'not base64 at all!', bytes('not base64 at all!')],
  ['a length beyond the end', Buffer.from([0x12, 5, 1]).toString('base64'), Uint8Array.from([0x12, 5, 1])],
  ['an endless varint', Buffer.alloc(20, 0xff).toString('base64'), new Uint8Array(20).fill(0xff)],
  [
    'a length of 4 GiB',
    Buffer.from([0x12, 255, 255, 255, 255, 15]).toString('base64'),
    Uint8Array.from([0x12, 255, 255, 255, 255, 15]),
  ],
  [
    'a message in an entry that ends early',
    Buffer.from([0x0a, 2, 0x0a, 9]).toString('base64'),
    Uint8Array.from([0x0a, 2, 0x0a, 9]),
  ],
])('payload on the wire, %s: becomes bytes without metadata', (_, wire, data) => {
  expect(payloadFromWire(wire)).toEqual({ metadata: {}, data })
})

test('payload on the wire: names of properties of all objects are ordinary keys', () => {
  const entries = [
    ['__proto__', bytes('a')],
    ['constructor', bytes('b')],
  ]

  const { metadata } = payloadFromWire(payloadToWire({ metadata: Object.fromEntries(entries) }))

  expect(Object.entries(metadata ?? {})).toEqual(entries)
})
