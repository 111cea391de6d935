/** Runs the client suite on any runtime, and reports to the test. */
import { mapConcurrent } from '../../../src/shared/lib/map-concurrent.ts'
import { access } from './access.ts'
import { calls } from './calls.ts'
import { type ClientCase, clientFixture, type Environment } from './client-fixture.ts'
import { cuts } from './cuts.ts'
import { errors } from './errors.ts'

export const CASES: Record<string, ClientCase> = { ...calls, ...access, ...errors, ...cuts }

// More would be a burst, which a busy machine answers late.
const CASES_AT_ONCE = 5

/** Runs all cases. `testUrl` is that of the test's `startClientTestServer`. */
export async function runSuite(testUrl: string): Promise<void> {
  const environment: Environment = await (await fetch(`${testUrl}/environment`)).json()
  const post = async (path: string, body = '') => {
    const response = await fetch(`${testUrl}/${path}`, { method: 'POST', body })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  }
  const redirectingUrl = `${testUrl}/redirect`
  const fixture = clientFixture({ ...environment, redirectingUrl }, (action) => post(`actions/${action}`))
  const report = async ([name, run]: [string, ClientCase]) => {
    const error = await run(fixture).then(
      () => null,
      (reason) => (reason instanceof Error ? `${reason.stack ?? reason}` : String(reason)),
    )
    await post('results', JSON.stringify({ name, error }))
  }
  await mapConcurrent(Object.entries({ ...calls, ...access, ...errors }), CASES_AT_ONCE, report)
  // All of these use the same proxy.
  for (const one of Object.entries(cuts)) await report(one)
}
