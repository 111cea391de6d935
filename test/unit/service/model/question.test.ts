import { expect, test } from 'vitest'
import { answerDigestOf, answerIdOf, parseAsks } from '../../../../src/service/model/question.ts'
import type { Ask } from '../../../../src/shared/wire/asks.ts'

const FORM = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
const ASK: Ask = { signal: 'answer', message: 'Approve?', schema: FORM }
const NOTHING_MORE = { to: null, askedAt: null, due: null }

test('parseAsks: reads what workflow code has written, and gives a question without a schema an open form', () => {
  const { schema: _, ...withoutSchema } = ASK

  expect(parseAsks({ k1: ASK, k2: withoutSchema })).toEqual(
    new Map([
      ['k1', { ...ASK, ...NOTHING_MORE }],
      ['k2', { ...ASK, ...NOTHING_MORE, schema: { type: 'object', properties: {} } }],
    ]),
  )
})

test('parseAsks: reads whom a question is for, and its times; what is malformed is null', () => {
  const more = { to: ['finance'], askedAt: '2026-11-28T08:00:00.5+00:00', due: '2026-12-01T08:00:00Z' }
  const [asked, malformed] = parseAsks({
    k1: { ...ASK, ...more },
    k2: { ...ASK, to: [7], askedAt: 1, due: 'soon' },
  }).values()

  expect(asked).toEqual({
    ...{ ...ASK, to: ['finance'] },
    ...{ askedAt: new Date('2026-11-28T08:00:00.500Z'), due: new Date('2026-12-01T08:00:00.000Z') },
  })
  expect(malformed).toEqual({ ...ASK, ...NOTHING_MORE })
})

test.for([
  ['a memo without questions', undefined],
  ['a null memo', null],
  ['a list', [ASK]],
  ['a question that is not an object', { k1: 'Approve?' }],
  ['a question without a message', { k1: { signal: 'answer', schema: {} } }],
  ['a question without a signal', { k1: { message: 'Approve?' } }],
  ['a question whose signal is reserved', { k1: { ...ASK, signal: '__temporal_x' } }],
] as const)('parseAsks: %s has none', ([, memo]) => {
  expect(parseAsks(memo)).toEqual(new Map())
})

test('answerIdOf: depends on the key alone, and is that of earlier versions', async () => {
  expect(await answerIdOf('5e4f0f2c-6d0f-4b0e-9d1f-6a2a3c1f7e55')).toBe('answer-f8213256b1b0b20b3c4482b1e045dd00')
})

test('answerDigestOf: is the same for equal contents, and another one for each question', async () => {
  const digest = await answerDigestOf({ key: 'k1', content: { approved: true, comment: 'Ada' } })

  expect(await answerDigestOf({ key: 'k1', content: { comment: 'Ada', approved: true } })).toBe(digest)
  expect(await answerDigestOf({ key: 'k1', content: { approved: false, comment: 'Ada' } })).not.toBe(digest)
  expect(await answerDigestOf({ key: 'k2', content: { approved: true, comment: 'Ada' } })).not.toBe(digest)
})
