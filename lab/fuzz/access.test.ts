/** What tenants and their access tokens may do is what docs/access.md says: `npm run fuzz` sends more requests. */
import { expect } from 'vitest'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { fuzzAccess } from './access.ts'
import { FUZZED_ENGINE } from './fuzz.ts'

const test = testWithOwnEngine(FUZZED_ENGINE)

const REQUESTS = 400
// A few seconds on an idle machine.
const TIMEOUT_MS = 300_000

test('fuzz: each request of an access token has the outcome that the oracle of access.md names', {
  timeout: TIMEOUT_MS,
}, async ({ engine }) => {
  const { differences, counts } = await fuzzAccess({ address: engine.address, seed: 3, requests: REQUESTS })

  expect(differences.slice(0, 3)).toEqual([])
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(REQUESTS / 50)
})
