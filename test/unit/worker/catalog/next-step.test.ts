import { expect, test } from 'vitest'
import { type Attempt, type KeepState, nextStep, START, type Step } from '../../../../src/worker/catalog/next-step.ts'
import type { Publication } from '../../../../src/worker/catalog/publish-catalog.ts'

const FIELDS = { catalog: 'shop', namespace: 'default' }
const RULES = { onPublishError: 'stop', checkEveryMs: 60_000, fields: FIELDS } as const
const WARN_ONLY = { ...RULES, onPublishError: 'warn' } as const

const PUBLISHED: Publication = { state: 'published', hash: 'own', other: null, watch: null }
const UNCHANGED: Publication = { ...PUBLISHED, state: 'unchanged' }
const SKIPPED: Publication = { ...PUBLISHED, state: 'skipped' }

const IN_FORCE: KeepState = { last: PUBLISHED, wasInForce: true, isSettled: true, failures: 0 }
const NOT_IN_FORCE: KeepState = { ...IN_FORCE, last: SKIPPED, wasInForce: false }

const DENIED: Attempt = { error: grpcError(7, 'not yours') }
const UNAVAILABLE: Attempt = { error: grpcError(14, 'away') }

test.each<[string, KeepState, Publication, Partial<KeepState>]>([
  ['the first publication', START, PUBLISHED, { last: PUBLISHED, wasInForce: true }],
  ['a catalog that is already published', START, UNCHANGED, { last: UNCHANGED, wasInForce: true }],
  ['a version that receives no new workflows', START, SKIPPED, { last: SKIPPED, wasInForce: false }],
  ['a catalog that was replaced', IN_FORCE, SKIPPED, { last: SKIPPED, wasInForce: true }],
  ['a success after failures', { ...IN_FORCE, failures: 3 }, UNCHANGED, { failures: 0 }],
])('nextStep: after %s the worker polls and checks again later', (_case, state, published, expected) => {
  const step = continued(nextStep(state, { published }, RULES))

  expect(step.state).toMatchObject({ isSettled: true, failures: 0, ...expected })
  expect(step.waitMs).toBe(60_000)
})

test('nextStep: a success after failures is logged, before the change of the catalog', () => {
  const { log } = continued(nextStep({ ...START, failures: 2 }, { published: PUBLISHED }, RULES))

  expect(log).toMatchObject([
    { level: 'info', message: 'Catalog checks succeed again', fields: { failures: 2 } },
    { level: 'info', message: 'Catalog published' },
  ])
})

test.each<[string, KeepState, Attempt, typeof RULES | typeof WARN_ONLY, { isSettled: boolean; waitMs: number }]>([
  ['an outage at the start', START, UNAVAILABLE, RULES, { isSettled: false, waitMs: 1000 }],
  ['the second failure', { ...START, failures: 1 }, UNAVAILABLE, RULES, { isSettled: false, waitMs: 2000 }],
  ['many failures', { ...START, failures: 30 }, UNAVAILABLE, RULES, { isSettled: false, waitMs: 15_000 }],
  ['an outage later', IN_FORCE, UNAVAILABLE, RULES, { isSettled: true, waitMs: 1000 }],
  ['a rejection at the start, with warn', START, DENIED, WARN_ONLY, { isSettled: true, waitMs: 60_000 }],
  ['a rejection after the catalog was in force', IN_FORCE, DENIED, RULES, { isSettled: true, waitMs: 60_000 }],
])('nextStep: %s is retried', (_case, state, attempt, rules, { isSettled, waitMs }) => {
  const step = continued(nextStep(state, attempt, rules))

  expect(step.state).toEqual({ ...state, failures: state.failures + 1, isSettled })
  expect(step.waitMs).toBe(waitMs)
})

test.each<[string, KeepState]>([
  ['at the start', START],
  ['after outages', { ...START, failures: 5 }],
  ['while another version is published', NOT_IN_FORCE],
])('nextStep: a rejection %s ends the worker', (_case, state) => {
  const step = nextStep(state, DENIED, RULES)

  expect(step).toEqual({ error: new Error('Catalog shop could not be published to namespace default: not yours') })
})

test('nextStep: warns about the first of several failures, with the reason', () => {
  const messages = (state: KeepState) =>
    continued(nextStep(state, UNAVAILABLE, RULES)).log.map(({ message }) => message)

  expect(messages(START)).toEqual([
    'Catalog shop could not be published to namespace default: away. The worker keeps running and will retry',
  ])
  expect(messages(IN_FORCE)).toEqual([
    'Catalog shop could not be checked in namespace default: away. The worker keeps running and will retry',
  ])
  expect(messages({ ...START, failures: 1 })).toEqual([])
})

function continued(step: Step) {
  if ('error' in step) throw step.error
  return step
}

function grpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code })
}
