import { expect, test } from 'vitest'
import { until } from '../../../../src/cli/dev/servers/until.ts'
import {
  admitsRun,
  type Call,
  CREDENTIAL_EXPIRED,
  CREDENTIAL_REVOKED,
  type DecideAgain,
  SHUTTING_DOWN,
} from '../../../../src/service/model/call.ts'
import { type ErrorFacts, ServiceError } from '../../../../src/service/model/errors.ts'
import type { Workflows } from '../../../../src/service/verbs.ts'
import type { Grant, Rights } from '../../../../src/shared/access/caller.ts'
import { aGrant, makeGuard, REF, START } from './guard-fixture.ts'

test('decisions about open requests are repeated for the caller of a later policy (threat 107)', async () => {
  const decisions = new Map<string, DecideAgain>()
  const { workflows, call } = makeGuard({ grants: [aGrant({ ids: ['u:ada:*'] })] })
  const open = {
    ...call,
    decideAgain: (key: string, decide: DecideAgain) => void decisions.set(key, decide),
  }
  await workflows.result({ ref: REF, followsChain: true, waitMs: 1000 }, open)
  await workflows.run({ ...START, workflowId: 'u:ada:2', timeoutMs: 1000 }, open)
  const outcomes = (...grants: Grant[]) => outcomesFor({ kind: 'granted', grants })
  const outcomesFor = (rights: Rights) =>
    Promise.all(
      [...decisions.values()].map(async (decide) => {
        try {
          await decide({ ...rights, id: 'token:web', limits: null })
          return true
        } catch {
          return false
        }
      }),
    )

  expect(await outcomes(aGrant({ can: ['read'], ids: ['u:*'] }))).toEqual([true, true])
  expect(await outcomes(aGrant({ can: ['start'], ids: ['u:*'] }))).toEqual([false, false])
  expect(await outcomes(aGrant({ ids: ['u:bob:*'] }))).toEqual([false, false])
  expect(await outcomes(aGrant({ workflows: ['admin'] }))).toEqual([false, false])
  expect(await outcomesFor({ kind: 'operator' })).toEqual([true, true])
})

test('the workflow of an open run is read once, however often its decision is repeated (threat 107)', async () => {
  const decisions: DecideAgain[] = []
  const { workflows, call, described } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })
  const open = { ...call, decideAgain: (_: string, decide: DecideAgain) => void decisions.push(decide) }
  await workflows.result({ ref: REF, followsChain: true, waitMs: 1000 }, open)
  const decide = async (workflows: string[]) => {
    for (const again of decisions)
      await again({ kind: 'granted' as const, id: 'token:web', grants: [aGrant({ workflows })], limits: null })
  }

  await decide(['or*'])

  await expect(decide(['admin'])).rejects.toMatchObject({ error: 'ForbiddenError' })
  expect(described).toEqual([REF])
})

test('at most eight runs are read at a time for a new policy, and what needs no read does not wait (threat 107)', async () => {
  const decisions: DecideAgain[] = []
  const describing: (() => void)[] = []
  const describe = () => new Promise<void>((resolve) => describing.push(resolve))
  const { workflows, call } = makeGuard({ grants: [aGrant({})], beforeRead: describe })
  const open = { ...call, decideAgain: (_: string, decide: DecideAgain) => void decisions.push(decide) }
  for (let count = 0; count < 20; count++) await workflows.result({ ref: REF, followsChain: true, waitMs: 1000 }, open)
  const decide = (overrides: Partial<Grant>) =>
    decisions.map(async (again) =>
      again({ kind: 'granted' as const, id: 'token:web', grants: [aGrant(overrides)], limits: null }),
    )

  const reading = decide({ workflows: ['order'] })
  const denied = await Promise.allSettled(decide({ ids: ['none'] }))
  const atOnce = describing.length
  for (let read = 0; read < 20; read++) {
    await until('it is read', async () => describing.length > read)
    describing[read]?.()
  }

  expect([...new Set(denied.map(({ status }) => status))]).toEqual(['rejected'])
  expect(atOnce).toBe(8)
  expect((await Promise.all(reading)).length).toBe(20)
})

test.for<[what: string, start: (workflows: Pick<Workflows, 'result' | 'run'>, call: Call) => Promise<unknown>]>([
  ['a wait', ({ result }, call) => result({ ref: REF, followsChain: true, waitMs: 1000 }, call)],
  ['a start', ({ run }, call) => run({ ...START, workflowId: 'u:ada:2', timeoutMs: 1000 }, call)],
])(
  'which workflows may continue a run is decided by the policy that is then in force: %s (threat 107)',
  async ([, begin]) => {
    const calls: Call[] = []
    const keep = async (_: unknown, call: Call) => void calls.push(call)
    const verbs = { result: keep, run: keep } as unknown as Partial<Workflows>
    let grants = [aGrant({ workflows: ['order', 'admin'] })]
    const { workflows, call } = makeGuard({ grants, verbs })
    await begin(workflows, {
      ...call,
      callerNow: () => ({ kind: 'granted' as const, id: 'jwt:main:ada', grants, limits: null }),
    })
    const admitted = () =>
      ['order', 'admin'].map((workflowName) => calls.map((call) => admitsRun(call, { workflowName })))

    const before = admitted()
    grants = [aGrant({ workflows: ['order'] })]
    const after = admitted()
    grants = [aGrant({})]

    expect([before, after, admitted()]).toEqual([
      [[true], [true]],
      [[true], [false]],
      [[true], [true]],
    ])
    expect(calls.map((call) => call.admits?.())).toEqual([null])
  },
)

test('a later verb of an open request is decided by the policy that is then in force (threat 107)', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({})] })
  const now = { kind: 'granted' as const, id: 'jwt:main:ada', grants: [aGrant({ ids: ['none'] })], limits: null }

  const later = workflows.explain({ ref: REF }, { ...call, callerNow: () => now })

  await expect(later).rejects.toMatchObject({ error: 'ForbiddenError' })
})

const AWAY: ErrorFacts = { ...REF, retryAfterSeconds: 1 }
const UNKNOWN: ErrorFacts = { ...REF, mayHaveTakenEffect: true }

test.for<[expected: string, reason: unknown, details: ErrorFacts]>([
  ['ForbiddenError', CREDENTIAL_REVOKED, AWAY],
  ['UnauthorizedError', CREDENTIAL_EXPIRED, AWAY],
  ['EngineUnavailableError', SHUTTING_DOWN, AWAY],
  ['EngineUnavailableError', undefined, AWAY],
  ['EngineUnavailableError', CREDENTIAL_REVOKED, UNKNOWN],
])('a read that the loss of a right interrupts is no outage: %s (threat 107)', async ([expected, reason, details]) => {
  const controller = new AbortController()
  const result = async () => {
    controller.abort(reason)
    throw new ServiceError('EngineUnavailableError', 'interrupted', { details })
  }
  const { workflows, call } = makeGuard({ grants: [aGrant({})], verbs: { result } })
  const { caller = { kind: 'granted' as const, id: 'nobody', grants: [], limits: null } } = call
  const open = { ...call, signal: controller.signal, callerNow: () => caller }

  const ended = workflows.result({ ref: REF, followsChain: true, waitMs: 1000 }, open)

  await expect(ended).rejects.toMatchObject({ error: expected, details: { workflowId: REF.workflowId } })
})
