import { expect, test } from 'vitest'
import { MUTANTS as OF_TESTS } from '../../../lab/mutants/list.ts'
import { mutated } from '../../../lab/soak/mutants/list.ts'
import { MUTANTS } from '../../simulator/mutants/list.ts'

test('mutants: the text that each replaces occurs once in its file', async () => {
  const sources = await Promise.all([...MUTANTS, ...OF_TESTS].map(mutated))
  expect(MUTANTS.length).toBeGreaterThanOrEqual(45)
  expect(OF_TESTS.length).toBeGreaterThanOrEqual(120)
  expect(sources).not.toContain('')
})
