import { expect, test } from 'vitest'
import { createPollSlots, pollHolder } from '../../../../../src/service/engine/waits/poll-slots.ts'
import { aCall } from '../../../call.ts'

/** Takes as many slots as the holder gets, and returns the functions that free them. */
function takeAll({ take }: ReturnType<typeof createPollSlots>, holder: string | null): (() => void)[] {
  const frees: (() => void)[] = []
  for (let free = take(holder); free !== null; free = take(holder)) frees.push(free)
  return frees
}

test('poll slots: a caller gets at most half of them, and leaves room for others (threat 29)', () => {
  const slots = createPollSlots(1000)

  const taken = ['ada', 'bob', 'cy'].map((holder) => takeAll(slots, holder).length)
  const rest = takeAll(slots, null).length

  expect(taken).toEqual([500, 250, 125])
  expect(rest).toBe(125)
})

test('poll slots: a caller that gives slots back gets others', () => {
  const slots = createPollSlots(4)
  const [first] = takeAll(slots, 'ada')
  const before = slots.hasFree('ada')
  first?.()
  first?.()

  expect([before, slots.hasFree('ada'), takeAll(slots, 'ada').length]).toEqual([false, true, 1])
})

test('poll slots: with one slot, any caller gets it', () => {
  const slots = createPollSlots(1)

  expect([takeAll(slots, 'ada').length, slots.hasFree('bob'), slots.hasFree(null)]).toEqual([1, false, false])
})

test('pollHolder: callers with rules have a share, an access token that of its creator, operators none', () => {
  const caller = { kind: 'granted' as const, id: 'token:web', grants: [], limits: null }
  const holders = [
    aCall(),
    aCall({ caller: { kind: 'operator', id: 'operator', limits: null } }),
    aCall({ caller }),
    aCall({ caller: { ...caller, delegatedBy: 'jwt:main:ada' } }),
  ].map(pollHolder)

  expect(holders).toEqual([null, null, 'token:web', 'jwt:main:ada'])
})
