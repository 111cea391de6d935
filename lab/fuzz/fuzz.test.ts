/** The service does what its OpenAPI document says: `npm run fuzz` for longer, with another seed each time. */
import { expect } from 'vitest'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { FUZZED_ENGINE, fuzz } from './fuzz.ts'

const test = testWithOwnEngine(FUZZED_ENGINE)

// Half a minute on an idle machine; the first time Schemathesis is downloaded, too.
const TIMEOUT_MS = 900_000

test('fuzz: every response is one that the document describes (threat 58)', { timeout: TIMEOUT_MS }, async ({
  engine,
}) => {
  const failures = await fuzz({ address: engine.address, seed: 1, minutes: null })

  expect(failures.join('\n\n')).toBe('')
})
