/** No response to one tenant shows anything of another: `npm run fuzz` for longer, with another seed each time. */
import { expect } from 'vitest'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { FUZZED_ENGINE, fuzzAsTenant } from '../fuzz/fuzz.ts'

const test = testWithOwnEngine(FUZZED_ENGINE)

test('fuzz: a tenant sees and changes nothing of another one (threat 16)', async ({ engine }) => {
  const failures = await fuzzAsTenant({ address: engine.address, seed: 1, minutes: 1 })

  expect(failures.join('\n\n')).toBe('')
})
