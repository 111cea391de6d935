import { expect, test } from 'vitest'
import { delegate, delegateOf, type Scope } from '../../../../src/service/access/delegate.ts'
import { backgroundCall } from '../../../../src/service/model/call.ts'
import type { Caller, Rule } from '../../../../src/shared/access/caller.ts'
import { callerOf } from '../../../../src/shared/access/grant.ts'

const OPERATOR: Caller = { kind: 'operator', id: 'operator', limits: null }

const call = backgroundCall('test', 1000)

/** The holder of a token that the caller of the rules creates, with other rules by then. */
async function holder(rules: Omit<Rule, 'who'>[], scope: Scope, later = rules) {
  const ofToken = (given: Omit<Rule, 'who'>[]) => given.map((rule) => ({ who: { token: ['hash'] }, ...rule }))
  const creator = callerOf({ token: 'hash' }, { rules: ofToken(rules) })
  if (creator === null) throw new Error('the creator has no rules')
  return delegateOf(await delegate(creator, scope, 'default', call), OPERATOR, { rules: ofToken(later) })
}

test('delegate: the holder has what both its creator and the token allow (threat 31)', async () => {
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
    { rule: 'a', can: ['read', 'signal:app*'], ids: ['u:ada:*', 'shared'], workflows: ['order-*'], options: [] },
    { rule: 'b', can: ['read'], ids: ['shared', 'u:ada:*'], workflows: ['order-*'], options: [] },
  ])
})

test('delegate: a token has the options that it names, of those that its creator has with the same right (threat 31)', async () => {
  const rules = [
    { name: 'a', can: ['start', 'delegate'], options: ['memo', 'headers'] },
    { name: 'b', can: ['signal', 'read'] },
  ]
  const optionsOf = async (scope: Scope) => (await holder(rules, scope))?.grants?.map(({ options }) => options)

  expect(await optionsOf({ can: ['start'] })).toEqual([[]])
  expect(await optionsOf({ can: ['start', 'read'], options: ['memo'] })).toEqual([['memo'], []])
  expect(await optionsOf({ can: ['start', 'signal'], options: ['memo'] })).toEqual([['memo'], []])
  for (const scope of [
    { can: ['start'], options: ['memo', 'retry'] },
    { can: ['start'], options: ['*'] },
    { can: ['signal'], options: ['headers'] },
  ])
    await expect(holder(rules, scope)).rejects.toThrow('options')
})

test('delegate: what a rule loses later the token loses too, and it gains nothing (threat 31)', async () => {
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

test('delegate: of the claims of its creator a token has only those that the rules read (threat 31)', async () => {
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

test('delegate: a caller with rules and without an identity creates nothing, not a token of an operator (threat 31)', async () => {
  const caller: Caller = {
    kind: 'granted' as const,
    id: 'x',
    grants: [{ rule: 'a', can: ['*'], options: [] }],
    limits: null,
  }

  await expect(delegate(caller, { can: ['read'] }, 'default', call)).rejects.toThrow('does not allow "delegate"')
})
