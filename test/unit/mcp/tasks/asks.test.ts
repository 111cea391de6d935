import { expect, test } from 'vitest'
import { parseAsks, toInputRequests, toSignals } from '../../../../src/mcp/tasks/asks.ts'
import type { Ask } from '../../../../src/protocol/asks.ts'

const FORM = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
const ASK: Ask = { signal: 'answer', message: 'Approve?', schema: FORM }
const ASKS = new Map([['k1', ASK]])

test('parseAsks: reads what workflow code has written, and gives a question without a schema an open form', () => {
  const { schema: _, ...withoutSchema } = ASK

  expect(parseAsks({ k1: ASK, k2: withoutSchema })).toEqual(
    new Map([
      ['k1', ASK],
      ['k2', { ...ASK, schema: { type: 'object', properties: {} } }],
    ]),
  )
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

test('toInputRequests: a question is a form', () => {
  expect(toInputRequests(ASKS)).toEqual({
    k1: { method: 'elicitation/create', params: { mode: 'form', message: 'Approve?', requestedSchema: FORM } },
  })
})

test('toSignals: an accepted answer is a signal with the key and the content', () => {
  const content = { approved: true }

  expect(toSignals(ASKS, { k1: { action: 'accept', content } })).toEqual([{ signal: 'answer', key: 'k1', content }])
})

test('toSignals: nothing is sent for answers that are declined or canceled, or to no open question', () => {
  const accept = { action: 'accept', content: { approved: true } }

  expect(toSignals(ASKS, { k1: { action: 'decline' } })).toEqual([])
  expect(toSignals(ASKS, { k1: { action: 'cancel' } })).toEqual([])
  expect(toSignals(ASKS, { k2: accept, toString: accept, k3: 'not an answer' })).toEqual([])
})

test.for([
  ['a content that does not match', { k1: { action: 'accept', content: { approved: 'yes' } } }],
  ['an accepted answer without content', { k1: { action: 'accept' } }],
] as const)('toSignals: %s is rejected with the issues', ([, responses]) => {
  expect(() => toSignals(ASKS, responses)).toThrow(
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
] as const)('toSignals: %s is rejected', ([, responses, message]) => {
  expect(() => toSignals(ASKS, responses)).toThrow(
    expect.objectContaining({ code: -32602, message: expect.stringMatching(message) }),
  )
})
