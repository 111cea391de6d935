import { expect, test } from 'vitest'
import { toSingleValue } from '../../../../src/shared/wire/execution.ts'

test('toSingleValue: is the one value, null for none, the array for several', () => {
  expect([[], [undefined], [['a']], [1, 2]].map(toSingleValue)).toEqual([null, null, ['a'], [1, 2]])
})
