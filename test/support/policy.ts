/**
 * Runs tests with a policy: `TEST_WITH_POLICY=true npx vitest run test/faults`. Every service that has no policy yet
 * gets one, and operators. Requests come from a caller whose rule allows everything but is checked each time.
 */
import { createHash } from 'node:crypto'

type Environment = Readonly<Record<string, string | undefined>>

export const HAS_POLICY = process.env.TEST_WITH_POLICY === 'true'

const TOKEN = 'ptc_token-of-the-tests'

/** What the requests of tests send by default. */
export const CALLER_TOKEN = HAS_POLICY ? TOKEN : undefined

/** The same, for requests that no client of `makeApi` sends. */
export const CALLER_HEADERS: Readonly<Record<string, string>> = HAS_POLICY ? { Authorization: `Basic ${TOKEN}` } : {}

const VARIABLES = {
  SERVICE_API_AUTH_TOKEN: 'operator-of-the-tests',
  SERVICE_POLICY: JSON.stringify({
    version: 1,
    rules: [
      {
        name: 'tests',
        who: { token: `sha256:${createHash('sha256').update(TOKEN).digest('hex')}` },
        can: ['*'],
        catalogs: ['*'],
        options: ['*'],
      },
    ],
  }),
}

/** Adds operators and the policy to the variables of a service. */
export function withPolicy<Env extends Environment>(env: Env): Env {
  return HAS_POLICY && env.SERVICE_POLICY_FILE === undefined ? { ...VARIABLES, ...env } : env
}

/** What the service makes of an `Idempotency-Key`: the keys of different callers differ. */
export function keyOfCaller(key: string): string {
  return HAS_POLICY ? `token:tests\n${key}` : key
}
