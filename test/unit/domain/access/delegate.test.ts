import { expect, test } from 'vitest'
import { delegate, delegateOf, type Scope } from '../../../../src/domain/access/delegate.ts'
import { callerOf, reachesAnyWorkflow } from '../../../../src/domain/access/grant.ts'
import { backgroundCall } from '../../../../src/domain/model/call.ts'
import type { Caller, Rule } from '../../../../src/domain/model/caller.ts'

const OPERATOR: Caller = { id: 'operator', grants: null, limits: null }

const call = backgroundCall('test', 1000)

/** The holder of a token that the caller of the rules creates, with other rules by then. */
async function holder(rules: Omit<Rule, 'who'>[], scope: Scope, later = rules) {
  const ofToken = (given: Omit<Rule, 'who'>[]) => given.map((rule) => ({ who: { token: ['hash'] }, ...rule }))
  const creator = callerOf({ token: 'hash' }, { rules: ofToken(rules) })
  if (creator === null) throw new Error('the creator has no rules')
  return delegateOf(await delegate(creator, scope, 'default', call), OPERATOR, { rules: ofToken(later) })
}

test('delegate: the holder has what both its creator and the token allow', async () => {
  const rules = [
    { name: 'a', can: ['*'], ids: ['u:*', 'shared'], workflows: ['order*'], options: ['memo'] },
    { name: 'b', can: ['read', 'delegate'] },
  ]

  const found = await holder(rules, {
    can: ['signal:app*', 'read'],
    ids: ['u:ada:*', 'shared'],
    workflows: ['order-*'],
  })

  expect(found?.grants).toMatchObject([
    { rule: 'a', can: ['read', 'signal:app*'], ids: ['u:ada:*', 'shared'], workflows: ['order-*'], options: ['memo'] },
    { rule: 'b', can: ['read'], ids: ['shared', 'u:ada:*'], workflows: ['order-*'], options: [] },
  ])
})

test('delegate: a rule without ids that names workflows does not reach others through a token with ids', async () => {
  const found = await holder([{ name: 'a', can: ['start', 'signal', 'delegate'], workflows: ['order'] }], {
    can: ['start', 'signal'],
    ids: ['u:ada:*'],
  })

  expect(found?.grants?.map(reachesAnyWorkflow)).toEqual([false])
})

test('delegate: what a rule loses later the token loses too, and it gains nothing', async () => {
  const before = [{ name: 'a', can: ['read', 'stop', 'delegate'], ids: ['u:*'] }]
  const scope = { can: ['read', 'stop'] }

  const narrowed = await holder(before, scope, [{ name: 'a', can: ['read'], ids: ['u:ada:*'] }])
  const wider = await holder(before, scope, [
    { name: 'a', can: ['*'] },
    { name: 'added', can: ['*'], ids: ['v:*'] },
  ])
  const gone = await holder(before, scope, [{ name: 'other', can: ['*'] }])

  expect(narrowed?.grants).toMatchObject([{ can: ['read'], ids: ['u:ada:*'] }])
  expect(wider?.grants).toMatchObject([{ rule: 'a', can: ['read', 'stop'] }])
  expect(gone).toBeNull()
})

test('delegate: of the claims of its creator a token has only those that the rules read', async () => {
  const rules: Rule[] = [
    { name: 'a', who: { jwt: 'main', claims: { '/realm/roles': ['x'] } }, can: ['*'], ids: ['{/org/id}:{sub}:*'] },
  ]
  const claims = { sub: 'ada', org: { id: 7 }, realm: { roles: ['x'] }, email: 'ada@example.com' }
  const creator = callerOf({ jwt: 'main', claims }, { rules })
  if (creator === null) throw new Error('the creator has no rules')

  const delegation = await delegate(creator, { can: ['read'] }, 'default', call)

  expect(delegation.by).toEqual({ jwt: 'main', claims: { sub: 'ada', org: { id: 7 }, realm: { roles: ['x'] } } })
  expect(delegateOf(delegation, OPERATOR, { rules })).toMatchObject({
    id: expect.stringMatching(/^jwt:main:ada\/[\da-f]{16}$/),
    grants: [{ can: ['read'], ids: ['7:ada:*'] }],
  })
})

test('delegate: a caller with rules and without an identity creates nothing, not a token of an operator', async () => {
  const caller: Caller = { id: 'x', grants: [{ rule: 'a', can: ['*'], options: [] }], limits: null }

  await expect(delegate(caller, { can: ['read'] }, 'default', call)).rejects.toThrow('does not allow "delegate"')
})
