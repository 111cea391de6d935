import { expect, test } from 'vitest'
import { grow } from '../../../../src/shared/trace-view/grow.ts'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { type TraceNode, toTraceTree } from '../../../../src/shared/wire/trace/tree.ts'

const step = { id: 'r/pay', parentId: 'r', kind: 'step', name: 'pay' } as const
const error = { name: 'Declined', message: 'no', cause: null }

const ENTRIES: TraceEntry[] = [
  { id: 'r', parentId: null, kind: 'workflow', name: 'order', at: 1, phase: 'began', input: { total: 3 } },
  { ...step, at: 2, phase: 'began', input: [], attributes: { activityId: 'pay' } },
  { ...step, at: 9, phase: 'ended', error, attributes: { attempts: 3, queueMs: 1, lastStartedAt: 8 } },
  { id: 'r/timer', parentId: 'r', kind: 'timer', name: '1', at: 9, phase: 'began', attributes: { summary: 'soon' } },
  { id: 'r/timer', parentId: 'r', kind: 'timer', name: '1', at: 11, phase: 'ended' },
  { id: 'r', parentId: null, kind: 'workflow', name: 'order', at: 12, phase: 'ended', output: null },
]

test('a trace that grows with the rest of its entries is that of all of them, wherever it was read', () => {
  const whole = toTraceTree(ENTRIES)

  for (let read = 1; read <= ENTRIES.length; read++)
    for (let known = 0; known <= read; known++)
      expect(grow(treeOf(ENTRIES.slice(0, read)), ENTRIES.slice(known)), `${read}, ${known}`).toEqual(whole)
})

test('when a step ends, the times of the attempt that was open go', () => {
  const attributes = { attempts: 2, lastEndedAt: 5, nextAttemptAt: 7 }
  const open = treeOf([...ENTRIES.slice(0, 2), { ...step, at: 2, phase: 'began', attributes }])

  const [ended] = grow(open, ENTRIES.slice(2))?.children ?? []
  const [waiting] = grow(open, ENTRIES.slice(3))?.children ?? []

  expect(ended?.attributes).toEqual({ activityId: 'pay', attempts: 3, queueMs: 1, lastStartedAt: 8 })
  expect(waiting?.attributes).toMatchObject(attributes)
})

test('a trace is read again for a child run, whose steps are in a history of its own', () => {
  const child: TraceEntry = { id: 'c', parentId: 'r', kind: 'child_workflow', name: 'ship', at: 3, phase: 'began' }

  expect(grow(treeOf(ENTRIES), [child])).toBeNull()
})

function treeOf(entries: readonly TraceEntry[]): TraceNode {
  const root = toTraceTree(entries)
  if (root === null) throw new Error('no root')
  return root
}
