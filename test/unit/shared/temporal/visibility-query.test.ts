import { expect, test } from 'vitest'
import { quoteLiteral } from '../../../../src/shared/temporal/visibility-query.ts'

test('quoteLiteral: quotes and escapes a string', () => {
  const found = ['orders', "it's", 'back\\slash', ''].map(quoteLiteral)
  expect(found).toEqual(["'orders'", "'it''s'", "'back\\\\slash'", "''"])
})
