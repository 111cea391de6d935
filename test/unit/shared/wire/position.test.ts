import { expect, test } from 'vitest'
import { isOf, nextOffset, parsePosition, positionAt, positionId } from '../../../../src/shared/wire/position.ts'

const RUN = '0198c0de-0000-7000-8000-00000000000a'

test.each([
  [{ runId: RUN, last: null }, RUN],
  [{ runId: RUN, last: 0 }, `${RUN}@0`],
  [{ runId: RUN, last: 17 }, `${RUN}@17`],
  [{ runId: RUN, last: 'end' }, `${RUN}@end`],
  [{ workflowId: 'orders-17', runId: RUN, last: null }, `orders-17/${RUN}`],
  [{ workflowId: 'a@b/ü!', runId: RUN, last: 3 }, `a%40b%2F%C3%BC%21/${RUN}@3`],
  [{ workflowId: '%2F', runId: RUN, last: 'end' }, `%252F/${RUN}@end`],
] as const)('the position %o has the id %s, in both directions', (position, id) => {
  expect(positionId(position)).toBe(id)
  expect(parsePosition(id)).toEqual(position)
})

test('run ids are read in upper case too', () => {
  expect(parsePosition(`${RUN.toUpperCase()}@3`)).toEqual({ runId: RUN, last: 3 })
})

test.each([
  '',
  '17',
  `17@${RUN}`,
  `-@${RUN}`,
  `@${RUN}`,
  `${RUN}@`,
  `${RUN}@-1`,
  `${RUN}@1.5`,
  `${RUN}@End`,
  `${RUN}/end`,
  `run@17`,
  `/${RUN}`,
  `a/b/${RUN}`,
  `a@b/${RUN}`,
  `%zz/${RUN}`,
  ` ${RUN}@17`,
  `${RUN}@17\n`,
  `${RUN}@9999999999999999`,
])('%j is the id of nothing (threat 42)', (id) => {
  expect(parsePosition(id)).toBeNull()
})

test('an item follows the one that was received', () => {
  expect([0, 1, 18].map((next) => positionAt({ runId: RUN }, next))).toEqual([
    { runId: RUN, last: null },
    { runId: RUN, last: 0 },
    { runId: RUN, last: 17 },
  ])
  expect([null, 0, 999_999_999_999_999].map((last) => nextOffset({ runId: RUN, last }))).toEqual([
    0, 1, 1_000_000_000_000_000,
  ])
})

test('a position is one of its workflow and its run, as far as both are named', () => {
  const position = { workflowId: 'w', runId: RUN, last: null }

  expect(
    [{}, { workflowId: 'w' }, { workflowId: 'w', runId: RUN.toUpperCase() }].map((ref) => isOf(position, ref)),
  ).toEqual([true, true, true])
  expect([{ workflowId: 'x' }, { workflowId: 'w', runId: 'other' }].map((ref) => isOf(position, ref))).toEqual([
    false,
    false,
  ])
  expect(isOf({ runId: RUN, last: 4 }, { workflowId: 'w' })).toBe(true)
})
