import { expect, test } from 'vitest'
import { type Decision, decided, newDecision } from '../../../../../src/service/http/context.ts'

function decisionsOf(...facts: Decision[]): Decision[] {
  const decisions: Decision[] = []
  for (const one of facts) newDecision(decisions)(one)
  return decisions
}

test('decided: equal changes are as many, and equal denials are one (threat 27)', () => {
  const signal = { action: 'signal:answer', rule: 'web', workflowId: 'w', runId: 'r' }
  const denial = { action: 'read', rule: 'none', workflowId: 'w' }

  expect(decided(decisionsOf(signal, denial, signal, denial), false)).toEqual(
    [signal, signal, denial].map((effect) => ({ ...effect, isEffect: true })),
  )
})

test('decided: two changes are two, and a read beside them is left out', () => {
  const changes = [
    { action: 'start', rule: 'web', workflowId: 'w' },
    { action: 'signal:add', rule: 'web', workflowId: 'w' },
  ]

  expect(decided(decisionsOf(...changes, { action: 'read', rule: 'web' }), false)).toEqual(
    changes.map((change) => ({ ...change, isEffect: true })),
  )
})

test('decided: a denial counts for a read, too', () => {
  const decisions = decisionsOf({ action: 'read', rule: 'web' }, { action: 'read', rule: 'none' })

  expect(decided(decisions, true)).toEqual([{ action: 'read', rule: 'none', isEffect: true }])
})
