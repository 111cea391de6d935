import { expect, test } from 'vitest'
import { MUTANTS, mutated } from '../../soak/mutants/list.ts'

test('mutants: the text that each replaces occurs once in its file', async () => {
  const sources = await Promise.all(MUTANTS.map(mutated))
  expect(sources.length).toBeGreaterThanOrEqual(20)
})
