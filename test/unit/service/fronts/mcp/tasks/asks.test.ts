import { expect, test } from 'vitest'
import { toAnswers, toInputRequests } from '../../../../../../src/service/fronts/mcp/tasks/asks.ts'
import type { Ask } from '../../../../../../src/shared/wire/asks.ts'

const FORM = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
const ASK: Ask = { signal: 'answer', message: 'Approve?', schema: FORM }
const ASKS = new Map([['k1', ASK]])

test('toInputRequests: a question is a form', () => {
  expect(toInputRequests(ASKS)).toEqual({
    k1: { method: 'elicitation/create', params: { mode: 'form', message: 'Approve?', requestedSchema: FORM } },
  })
})

test('toAnswers: an accepted answer has the key and the content', () => {
  const content = { approved: true }

  expect(toAnswers(ASKS, { k1: { action: 'accept', content } })).toEqual([{ key: 'k1', content }])
})

test('toAnswers: nothing is sent for answers that are declined or canceled (threat 92)', () => {
  expect(toAnswers(ASKS, { k1: { action: 'decline' } })).toEqual([])
  expect(toAnswers(ASKS, { k1: { action: 'cancel' } })).toEqual([])
})

test('toAnswers: a question that is not open may have been answered before', () => {
  const accept = { action: 'accept', content: { approved: 'yes' } }

  expect(toAnswers(ASKS, { k2: accept, k3: 'not an answer' })).toEqual([{ key: 'k2', content: { approved: 'yes' } }])
})

test('toAnswers: has at most 100 answers', () => {
  const responses = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`old-${at}`, { action: 'accept' }]))

  expect(toAnswers(ASKS, responses(100))).toHaveLength(100)
  expect(() => toAnswers(ASKS, responses(101))).toThrow(/must have at most 100 answers/)
})

test.for([
  ['a content that does not match', { k1: { action: 'accept', content: { approved: 'yes' } } }],
  ['an accepted answer without content', { k1: { action: 'accept' } }],
] as const)('toAnswers: %s is rejected with the issues (threat 92)', ([, responses]) => {
  expect(() => toAnswers(ASKS, responses)).toThrow(
    expect.objectContaining({
      code: -32602,
      data: { issues: [expect.objectContaining({ path: expect.stringMatching(/^\/inputResponses\/k1\/content/) })] },
    }),
  )
})

test.for([
  ['responses that are not an object', [], /inputResponses must be an object/],
  ['an unknown action', { k1: { action: 'maybe' } }, /k1 must have an action/],
  ['a response that is not an object', { k1: true }, /k1 must have an action/],
] as const)('toAnswers: %s is rejected', ([, responses, message]) => {
  expect(() => toAnswers(ASKS, responses)).toThrow(
    expect.objectContaining({ code: -32602, message: expect.stringMatching(message) }),
  )
})
