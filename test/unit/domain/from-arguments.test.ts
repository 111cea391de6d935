import { expect, test } from 'vitest'
import { fromArguments } from '../../../src/domain/from-arguments.ts'

test('fromArguments: is the one value, null for none, the array for several', () => {
  expect([[], [undefined], [['a']], [1, 2]].map(fromArguments)).toEqual([null, null, ['a'], [1, 2]])
})
