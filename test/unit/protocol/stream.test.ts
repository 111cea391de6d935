import { expect, test } from 'vitest'
import {
  isPollResult,
  isPollUpdateId,
  isPublishInput,
  parsePosition,
  pollUpdateId,
  positionId,
} from '../../../src/protocol/stream.ts'

const RUN = '0198c0de-0000-7000-8000-00000000000a'

test.each([
  [{ next: 0, isEnd: false }, `-@${RUN}`],
  [{ next: 1, isEnd: false }, `0@${RUN}`],
  [{ next: 18, isEnd: false }, `17@${RUN}`],
  [{ next: 0, isEnd: true }, `0@${RUN}/end`],
  [{ next: 18, isEnd: true }, `18@${RUN}/end`],
])('the position %o has the id %s, in both directions', (position, id) => {
  expect(positionId({ ...position, runId: RUN })).toBe(id)
  expect(parsePosition(id)).toEqual({ ...position, runId: RUN })
})

test('run ids are read in upper case too', () => {
  expect(parsePosition(`3@${RUN.toUpperCase()}`)).toEqual({ next: 4, runId: RUN, isEnd: false })
})

test.each(['', '17', `@${RUN}`, `-1@${RUN}`, `1.5@${RUN}`, `17@run`, `17@${RUN}/End`, ` 17@${RUN}`, `17@${RUN}\n`])(
  '%j is the id of nothing',
  (id) => {
    expect(parsePosition(id)).toBeNull()
  },
)

test('an offset with more digits than a number keeps exactly is the id of nothing', () => {
  expect(parsePosition(`999999999999999@${RUN}`)?.next).toBe(1_000_000_000_000_000)
  expect(parsePosition(`9999999999999999@${RUN}`)).toBeNull()
})

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
