import { expect, test } from 'vitest'
import { delegate, delegateOf } from '../../../../src/service/access/delegate.ts'
import type { RepairCommand } from '../../../../src/service/model/activity.ts'
import { backgroundCall } from '../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Caller } from '../../../../src/shared/access/caller.ts'
import { callerOf } from '../../../../src/shared/access/grant.ts'
import { makeGuard, START } from './guard-fixture.ts'
import { activityOutcome, type OracleRequest, type OracleRule, type Outcome, outcomeOf } from './oracle.ts'

const IDS = ['u:ada:1', 'u:ada:2', 'u:adam:1', 'x', 'u:']
const PATTERNS = ['*', 'u:*', 'u:ada:*', 'u:ada*', 'u:ada:1', 'x']
const WORKFLOWS = ['order', 'admin']
const HANDLERS = ['approve', 'app', 'set']
const VERBS = ['start', 'read', 'signal', 'query', 'update', 'stop', 'terminate', 'pause', 'reset', 'repair']
const RIGHTS = [...VERBS, 'signal:app*', 'signal:approve', 'query:set', 'update:app', 'update:*', 'repair:app*']
const OPTIONS = ['memo', 'headers', 'retry']
const OPERATOR: Caller = { kind: 'operator', id: 'operator', limits: null }
// 12 000 requests.
const SEEDS = 300

type OfRun = OracleRequest & { workflowId: string }

const OUTCOMES = ['reached', 403, 404] as const

/** A small generator of numbers (mulberry32). */
function randomOf(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const one = <T>(values: readonly T[]) => values[Math.floor(next() * values.length)] as T
  const some = <T>(values: readonly T[], most: number) => [
    ...new Set(Array.from({ length: 1 + Math.floor(next() * most) }, () => one(values))),
  ]
  const maybe = <T>(make: () => T) => (next() < 0.5 ? make() : undefined)
  return { one, some, maybe }
}

type Random = ReturnType<typeof randomOf>

function aRule({ one, some, maybe }: Random, rights: readonly string[]): OracleRule {
  const [ids, workflows, options] = [
    maybe(() => some(PATTERNS, 2)),
    maybe(() => some(['*', 'order', 'ord*', 'admin'], 2)),
    maybe(() => one([['*'], some(OPTIONS, 2)])),
  ]
  return { can: some(rights, 4), ...(ids && { ids }), ...(workflows && { workflows }), ...(options && { options }) }
}

function aRequest({ one, some, maybe }: Random): OfRun {
  const verb = one(VERBS)
  const takesHeaders = ['signal', 'query', 'update'].includes(verb)
  const options = verb === 'start' ? maybe(() => some(['memo', 'retry'], 2)) : takesHeaders && maybe(() => ['headers'])
  const handler = takesHeaders || verb === 'repair' ? { handler: one(HANDLERS) } : {}
  return { verb, ...handler, workflowId: one(IDS), workflowName: one(WORKFLOWS), options: options || [] }
}

function expectedOutcome(rules: OracleRule[], scope: OracleRule | null, request: OfRun): Outcome {
  const { verb, handler = null } = request
  const ofType = (type: string) => outcomeOf(rules, scope, [{ ...request, handler: type }])
  return verb === 'repair' ? activityOutcome(HANDLERS, handler, ofType) : outcomeOf(rules, scope, [request])
}

/** What the guard does with the request. */
async function guardOutcome(caller: Caller, request: OfRun): Promise<Outcome> {
  const { workflowId, workflowName, handler = '', options, verb } = request
  const { workflows, call: ofUser, done } = makeGuard({ grants: null, runOf: workflowName })
  const call = { ...ofUser, caller }
  const ref = { workflowId }
  const message = { name: handler, args: [], argumentPointer: '', ...(options.includes('headers') && { headers: {} }) }
  const given = Object.fromEntries(options.map((name) => [name, {}]))
  const send: Readonly<Record<string, () => Promise<unknown>>> = {
    start: () => workflows.start({ ...START, workflowId, workflowName, options: given }, call),
    read: () => workflows.status({ ref }, call),
    signal: () => workflows.signal({ ref, message }, call),
    query: () => workflows.query({ ref, message }, call),
    update: () => workflows.update({ ref, message }, call),
    stop: () => workflows.stop({ ref, reason: null }, call),
    terminate: () => workflows.terminate({ ref, reason: null }, call),
    pause: () => workflows.pause({ ref, reason: null }, call),
    reset: () => workflows.reset({ ref, reason: null, eventId: 4 } as never, call),
    repair: () => workflows.unpauseActivity({ ref, activityId: '1' }, call),
  }
  try {
    await send[verb]?.()
    const [{ command } = {}] = done
    const { admits = () => true } = (command ?? {}) as Pick<RepairCommand, 'admits'>
    return done.length === 1 && admits({ activityType: handler, workflowName }) ? 'reached' : 404
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (done.length > 0) throw new Error('A denied request was carried out')
    return error.error === 'ForbiddenError' ? 403 : 404
  }
}

test('what rules and access tokens allow is what docs/access.md says, for random rules, tokens and requests (threat 31)', async () => {
  const wrong: unknown[] = []
  const counts = new Map<Outcome, number>()
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomOf(seed)
    const rules = Array.from({ length: random.one([1, 2, 3]) }, () => aRule(random, RIGHTS))
    const who = { token: ['hash'] }
    const ofPolicy = rules.map((rule, n) => ({ name: `r${n}`, who, ...rule }))
    const creator = callerOf({ token: 'hash' }, { rules: ofPolicy })
    if (creator === null) throw new Error('The creator has no rules')
    // What a creator may not pass on is rejected. Then its own requests are compared.
    const scope = aRule(random, RIGHTS)
    const delegation = await delegate(creator, scope, 'default', backgroundCall('oracle', 1000)).catch(() => null)
    const holder = delegation && delegateOf(delegation, OPERATOR, { rules: ofPolicy })
    for (let n = 0; n < 40; n++) {
      const request = aRequest(random)
      const expected = expectedOutcome(rules, holder && scope, request)
      const actual = await guardOutcome(holder ?? creator, request)
      counts.set(expected, (counts.get(expected) ?? 0) + 1)
      if (actual !== expected) wrong.push({ seed, rules, scope: holder && scope, request, expected, actual })
    }
  }
  expect(wrong.slice(0, 3)).toEqual([])
  expect(Math.min(...OUTCOMES.map((outcome) => counts.get(outcome) ?? 0))).toBeGreaterThan(SEEDS / 2)
})
