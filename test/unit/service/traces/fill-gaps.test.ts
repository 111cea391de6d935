import { expect, test } from 'vitest'
import { fillGaps } from '../../../../src/service/traces/fill-gaps.ts'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { toTraceTree } from '../../../../src/shared/wire/trace/tree.ts'

const RUN: TraceEntry = { id: 'r', parentId: null, kind: 'workflow', name: 'order', at: 1, phase: 'began' }
const STEP: TraceEntry = { id: 'r:step:1', parentId: 'r', kind: 'step', name: 'charge', at: 2, phase: 'began' }
const ENDED: TraceEntry = { ...STEP, at: 9, phase: 'ended', output: null }
const OLDER: TraceEntry[] = [
  { ...STEP, at: 5, input: 'older input', attributes: { attempts: 7, cost: 3 } },
  { ...ENDED, at: 20, output: 'older output' },
]

function stepOf(known: TraceEntry[], older = OLDER) {
  return toTraceTree(fillGaps([RUN, ...known], older).entries)?.children[0]
}

test('fillGaps: adds attributes, and changes no time, value or attribute of the history', () => {
  expect(stepOf([{ ...STEP, input: null, attributes: { attempts: 2 } }, ENDED])).toMatchObject({
    ...{ startedAt: 2, endedAt: 9, input: null, output: null, error: null },
    attributes: { attempts: 2, cost: 3 },
  })
})

test('fillGaps: adds values that the history has stored elsewhere', () => {
  const attributes = { storedElsewhere: true }

  expect(
    stepOf([
      { ...STEP, attributes },
      { ...ENDED, attributes },
    ]),
  ).toMatchObject({ input: 'older input', output: 'older output' })
})

test('fillGaps: a step that is open or has failed according to the history has no output', () => {
  const attributes = { storedElsewhere: true }
  const error = { name: 'Declined', message: 'no', cause: null }

  expect(stepOf([{ ...STEP, attributes }])).toMatchObject({ endedAt: null, output: null })
  expect(
    stepOf([
      { ...STEP, attributes },
      { ...ENDED, output: undefined, error },
    ]),
  ).toMatchObject({ output: null, error })
})

test('fillGaps: a node of another name is left out with all that is below it, and counted', () => {
  const other: TraceEntry = { ...STEP, name: 'refund' }
  const span: TraceEntry = { ...STEP, id: 'r:span:1', parentId: STEP.id, kind: 'llm' }

  expect(fillGaps([RUN, STEP], [other, { ...other, phase: 'ended' }, span])).toEqual({
    entries: [RUN, STEP],
    rejected: 2,
  })
})

test('fillGaps: a step of a child run that has the id of a step of its parent goes to the child', () => {
  const inChild: TraceEntry = { ...STEP, id: 'c:step:1', parentId: 'c', name: 'ship' }
  const span: TraceEntry = { ...STEP, id: 'r:span:1', parentId: STEP.id, kind: 'llm' }

  const { entries, rejected } = fillGaps([RUN, STEP, inChild], [{ ...STEP, name: 'ship' }, span])

  expect(rejected).toBe(0)
  expect(entries.find(({ id }) => id === span.id)?.parentId).toBe('c:step:1')
})
