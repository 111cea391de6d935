import { expect, test } from 'vitest'
import { quoteLiteral } from '../../../src/temporal/visibility-query.ts'

test('quoteLiteral: quotes and escapes a string', () => {
  expect(['orders', "it's", 'back\\slash', ''].map(quoteLiteral)).toEqual([
    "'orders'",
    "'it''s'",
    "'back\\\\slash'",
    "''",
  ])
})
