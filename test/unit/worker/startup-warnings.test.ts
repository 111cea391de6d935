import { expect, test } from 'vitest'
import { type StartupFacts, startupWarnings } from '../../../src/worker/startup-warnings.ts'

const EXPECTED: StartupFacts = {
  isHeld: true,
  isTraced: false,
  hasInterceptors: false,
  ignoredVariables: [],
  ignoredWebhooks: [],
}

test.each<[string, Partial<StartupFacts>, RegExp[]]>([
  ['a worker without tracing', {}, []],
  ['a traced worker', { isTraced: true, hasInterceptors: true }, []],
  ['an SDK whose polls cannot be delayed', { isHeld: false }, [/cannot delay polling/]],
  ['replaced interceptors', { isTraced: true }, [/another plugin replaced interceptors\.activity/]],
  ['variables without effect', { ignoredVariables: ['A', 'B'] }, [/^A and B has no effect on this worker/]],
  ['webhooks without effect', { ignoredWebhooks: ['A'] }, [/^A has no effect on this worker: pass webhooks:/]],
  ['everything at once', { isHeld: false, isTraced: true, ignoredVariables: ['A'] }, [/polling/, /replaced/, /^A has/]],
])('startupWarnings: %s', (_case, facts, expected) => {
  expect(startupWarnings({ ...EXPECTED, ...facts })).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
})
