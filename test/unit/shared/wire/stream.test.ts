import { expect, test } from 'vitest'
import { isPollResult, isPollUpdateId, isPublishInput, pollUpdateId } from '../../../../src/shared/wire/stream.ts'

test('the update id of a poll follows from its offset, and is recognized', () => {
  expect(pollUpdateId(17)).toBe('portico-stream/17')
  expect([pollUpdateId(17), 'portico-stream', 'other'].map(isPollUpdateId)).toEqual([true, false, false])
})

test('what a workflow returns is a batch of items only if each of them is complete', () => {
  const item = { topic: 't', data: 'AA==', offset: 3 }
  const result = { items: [item], next_offset: 4, more_ready: false }

  expect(isPollResult(result)).toBe(true)
  expect(isPollResult({ items: [], next_offset: 0 })).toBe(true)
  const wrong = [
    null,
    [],
    { ...result, next_offset: -1 },
    { ...result, next_offset: '4' },
    { ...result, items: {} },
    { ...result, items: [{ ...item, offset: 0.5 }] },
    { ...result, items: [{ ...item, offset: undefined }] },
    { ...result, items: [{ ...item, topic: 1 }] },
    { ...result, items: [{ ...item, data: null }] },
    { ...result, items: [null] },
    { ...result, items: [item, item] },
    { ...result, items: [{ ...item, offset: 4 }] },
    { ...result, next_offset: 1e15 },
  ]
  expect(wrong.filter(isPollResult)).toEqual([])
})

test('the argument of a signal is a batch of items only if each of them is complete', () => {
  const input = { items: [{ topic: 't', data: 'AA==' }], publisher_id: '', sequence: 0 }

  expect(isPublishInput(input)).toBe(true)
  expect([null, {}, { items: [{ topic: 't' }] }, { items: 'AA==' }].filter(isPublishInput)).toEqual([])
})
