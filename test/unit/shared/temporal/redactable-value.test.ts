import { expect, test } from 'vitest'
import { type Codec, createPayloadReader, encodingOf, type Payload } from '../../../../src/shared/temporal/payload.ts'
import { payloadToWire } from '../../../../src/shared/temporal/payload-wire.ts'
import { toRedactable } from '../../../../src/shared/temporal/redactable-value.ts'
import { payload, turning } from './turning-codec.ts'

const PLAIN = createPayloadReader(null)
const REDACTABLE = createPayloadReader(null, toRedactable)

/** As text of each kind that cannot be read, or whose encoding is unknown. */
const UNREADABLE: Payload[] = [
  payload('json/plain', '{"password":"hunter2"'),
  payload('json/plain', `{"password":"hunter2","tree":${'['.repeat(1200)}${']'.repeat(1200)}}`),
  payload('json/plain', new Uint8Array([0x22, 0xff, 0x22])),
  payload('json/protobuf', 'hunter2'),
  payload('text/plain', 'password: hunter2'),
  payload('Binary/plain', 'hunter2'),
  payload('binary', 'hunter2'),
  payload('application/json', '{"password":"hunter2"}'),
  { data: Buffer.from('hunter2') },
]

test('toRedactable: text that cannot be read keeps its encoding only (threat 86)', async () => {
  const found = await REDACTABLE.decode(UNREADABLE)

  expect(found).toEqual(UNREADABLE.map((given) => ({ encoding: encodingOf(given), data: '[redacted]' })))
})

test('toRedactable: bytes that are a JSON object or array keep their encoding only (threat 86)', async () => {
  const texts = [
    '{"password":"hunter2"}',
    ' \n[{"password":"hunter2"}]\t',
    '\ufeff{"password":"hunter2"}',
    '{"score":NaN}',
    `${'['.repeat(1200)}${']'.repeat(1200)}`,
    '{"a":1}\n{"b":2}\n',
  ]

  expect(await REDACTABLE.decode(texts.map((text) => payload('binary/plain', text)))).toEqual(
    texts.map(() => ({ encoding: 'binary/plain', data: '[redacted]' })),
  )
})

test('toRedactable: other bytes and JSON stay as they are', async () => {
  const bytes = [
    payload('binary/plain', new Uint8Array([0, 255])),
    payload('binary/plain', ''),
    payload('binary/plain', '{'),
    payload('binary/plain', '{]'),
    payload('binary/plain', '[redacted] or not'),
    payload('binary/protobuf', '{}'),
    payload('binary/encrypted', '[1]'),
    payload('binary/null', ''),
    payload('json/plain', '{"password":"p"}'),
  ]

  expect(await REDACTABLE.decode(bytes)).toEqual(await PLAIN.decode(bytes))
})

test('toRedactable: looks at what the codec has decoded', async () => {
  const plainText: Codec = { ...turning, decode: async (given) => given.map(() => payload('text/plain', 'hunter2')) }
  const toBytes: Codec = { ...turning, decode: async (given) => given.map(() => payload('binary/plain', 'abc')) }
  const encrypted = [payload('aes', 'x'), payload('binary/turned', 'y')]

  expect(await createPayloadReader(plainText, toRedactable).decode(encrypted)).toEqual(
    encrypted.map(() => ({ encoding: 'text/plain', data: '[redacted]' })),
  )
  expect(await createPayloadReader(toBytes, toRedactable).decode(encrypted)).toEqual(
    encrypted.map(() => ({ encoding: 'binary/plain', data: 'YWJj' })),
  )
})

test('toRedactable: an item of a stream is its contents, wherever it is (threat 86)', async () => {
  const item = (given: Payload) => ({ topic: 'notes', data: payloadToWire(given) })
  const items = [
    item(payload('json/plain', '{"password":"hunter2","score":NaN}')),
    item(payload('text/plain', 'hunter2')),
  ]
  const values = [
    { items, publisher_id: 'p', sequence: 1 },
    { items: items.map((each, offset) => ({ ...each, offset })), next_offset: 2, more_ready: false },
    [{ state: { base_offset: 0, log: items, publisher_sequences: {} } }],
  ]

  const found = await REDACTABLE.decode(values.map((value) => payload('json/plain', JSON.stringify(value))))

  const read = [
    { password: 'hunter2', score: 'NaN' },
    { encoding: 'text/plain', data: '[redacted]' },
  ]
  const readItems = read.map((data) => ({ topic: 'notes', data }))
  expect(found).toEqual([
    { items: readItems, publisher_id: 'p', sequence: 1 },
    { items: readItems.map((each, offset) => ({ ...each, offset })), next_offset: 2, more_ready: false },
    [{ state: { base_offset: 0, log: readItems, publisher_sequences: {} } }],
  ])
})

test('toRedactable: an item inside of an item is redacted, so that a small value cannot become a deep one', async () => {
  const wire = (json: string) => JSON.stringify({ topic: 'notes', data: payloadToWire(payload('json/plain', json)) })
  const [levels, padding] = [16, 900]
  let json = '"hunter2"'
  for (let level = 0; level < levels; level++) json = `${'['.repeat(padding)}${wire(json)}${']'.repeat(padding)}`
  const shallow = wire(`[${wire('"hunter2"')}]`)

  const [deep, nested] = await REDACTABLE.decode([payload('json/plain', json), payload('json/plain', shallow)])

  expect(JSON.stringify(deep).match(/\[/g)).toHaveLength(2 * padding + 1)
  expect(nested).toEqual({ topic: 'notes', data: [{ topic: 'notes', data: '[redacted]' }] })
})

test('toRedactable: an item that is stored elsewhere is null', async () => {
  const reference = { topic: 'notes', data: payloadToWire(payload('json/external-storage-reference', '{"key":"k"}')) }

  expect(await REDACTABLE.decode([payload('json/plain', JSON.stringify(reference))])).toEqual([
    { topic: 'notes', data: null },
  ])
})

test('toRedactable: other values with a topic and data stay as they are', async () => {
  const values = [
    { topic: 'a', data: 'text' },
    { topic: 'a', data: 'YWJj' },
    { topic: 'a', data: '' },
    { topic: 'a', data: 1 },
    { topic: 1, data: payloadToWire(payload('json/plain', '1')) },
    { __proto__: null, data: payloadToWire(payload('json/plain', '1')) },
  ]

  expect(await REDACTABLE.decode(values.map((value) => payload('json/plain', JSON.stringify(value))))).toEqual(
    JSON.parse(JSON.stringify(values)),
  )
})
