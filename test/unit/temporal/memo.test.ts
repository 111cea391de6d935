import { expect, test } from 'vitest'
import { decodeProtocolMemo, fromMemo, memoFields, toMemo, userFields } from '../../../src/temporal/memo.ts'
import { createPayloadReader } from '../../../src/temporal/payload.ts'

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
  expect([...userFields('order', memoFields(memo)).keys()]).toEqual(['mine'])
})
