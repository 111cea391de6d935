import { expect, test } from 'vitest'
import { toTraceTree } from '../../../src/protocol/trace/tree.ts'
import { entriesOfOlderTree, isOlderTree } from '../../../src/trace/older-tree.ts'
import { olderTree } from '../../support/older-tree.ts'

const RUN = { workflowId: 'orders-17', runId: 'run-1', startedAt: new Date(100_000), completedAt: new Date(200_000) }

function entriesOf(tree: unknown, run: Parameters<typeof entriesOfOlderTree>[1] = RUN) {
  if (!isOlderTree(tree)) throw new Error('not an older tree')
  return entriesOfOlderTree(tree, run)
}

test('isOlderTree: accepts only a workflow with children', () => {
  expect(isOlderTree(olderTree('run-1'))).toBe(true)
  for (const document of [
    null,
    [],
    'tree',
    {},
    { ...olderTree('run-1'), id: '' },
    { ...olderTree('run-1'), kind: 'step' },
    { ...olderTree('run-1'), startedAt: -1 },
    { ...olderTree('run-1'), children: {} },
    { portico: 'trace', version: 1, workflowId: 'a', rootRunId: 'b', entries: [] },
  ])
    expect(isOlderTree(document)).toBe(false)
})

test('entriesOfOlderTree: unwraps outputs and drops the stacks of errors', () => {
  const entries = entriesOf(olderTree('run-1'))

  expect(entries?.skipped).toBe(0)
  expect(toTraceTree(entries?.found ?? [])).toMatchObject({
    ...{
      id: 'run-1',
      kind: 'workflow',
      name: 'order',
      startedAt: 1000,
      endedAt: 2000,
      input: { orderId: '17' },
      output: 'done',
      error: null,
    },
    children: [
      {
        ...{
          id: 'run-1:step:1',
          kind: 'step',
          name: 'order#charge',
          input: { amount: 4 },
          output: 'charged',
          error: null,
        },
        children: [{ kind: 'http', output: { status: 500 }, attributes: { http_request_count: { value: 1 } } }],
      },
      {
        ...{ id: 'run-1:step:2', kind: 'evaluator', output: null },
        error: {
          name: 'FatalError',
          message: 'not good',
          cause: { name: 'TypeError', message: 'x is undefined', cause: null },
        },
      },
      { id: 'child-run', kind: 'workflow', output: 'shipped', children: [{ id: 'child-run:step:1', output: 'sent' }] },
    ],
  })
  expect(JSON.stringify(entries)).not.toContain('/srv/app')
})

test('entriesOfOlderTree: a node that has not ended has no output, only a start', () => {
  const entries = entriesOf({ ...olderTree('run-1', { endedAt: null }), output: '<<Workflow did not finish yet.>>' })

  expect(entries?.found.filter(({ id }) => id === 'run-1')).toMatchObject([{ phase: 'began' }])
})

test('entriesOfOlderTree: for a child run, returns the subtree of the child', () => {
  const entries = entriesOf(olderTree('run-1'), { ...RUN, runId: 'child-run' })

  expect(entries?.found.map(({ id, parentId, phase }) => [id, parentId, phase])).toEqual([
    ['child-run', null, 'began'],
    ['child-run', null, 'ended'],
    ['child-run:step:1', 'child-run', 'began'],
    ['child-run:step:1', 'child-run', 'ended'],
  ])
})

test('entriesOfOlderTree: returns null for the trace of another run', () => {
  expect(entriesOf(olderTree('run-2'))).toBeNull()
})

test('entriesOfOlderTree: a root named by its workflow id is the run that was open at the time', () => {
  const named = (startedAt: number) => olderTree('orders-17', { startedAt })

  expect(entriesOf(named(150_000))?.found[0]).toMatchObject({ id: 'run-1', name: 'order' })
  expect(entriesOf(named(150_000), { ...RUN, completedAt: null })).not.toBeNull()
  for (const startedAt of [30_000, 270_000]) expect(entriesOf(named(startedAt))).toBeNull()
  expect(entriesOf(named(150_000), { ...RUN, workflowId: 'orders-18' })).toBeNull()
  expect(entriesOf(named(150_000), { ...RUN, startedAt: null })).toBeNull()
})

test('entriesOfOlderTree: counts invalid nodes and skips what is below them', () => {
  const [step] = olderTree('run-1').children
  const children = [
    null,
    7,
    'x',
    { ...step, id: 'x'.repeat(5000) },
    { ...step, startedAt: 0, kind: '', name: '' },
    step,
  ]

  const entries = entriesOf({ ...olderTree('run-1'), children })

  expect(entries?.skipped).toBe(5)
  expect(entries?.found.map(({ kind }) => kind)).toEqual(['workflow', 'workflow', 'step', 'step', 'http', 'http'])
})

test('entriesOfOlderTree: keeps an error that is only a string', () => {
  const entries = entriesOf({ ...olderTree('run-1'), children: [], error: 'it broke' })

  expect(entries?.found[1]?.error).toEqual({ name: 'Error', message: 'it broke', cause: null })
})

test('entriesOfOlderTree: keeps at most ten causes', () => {
  const deep = (left: number): object => ({ name: `e${left}`, message: '', ...(left > 0 && { cause: deep(left - 1) }) })

  const entries = entriesOf({ ...olderTree('run-1'), children: [], error: deep(50) })

  expect(JSON.stringify(entries?.found[1]?.error).match(/"name"/g)).toHaveLength(11)
})

test('entriesOfOlderTree: an HTTP response that was thrown keeps its status and its value', () => {
  const error = { status: 401, statusText: 'Unauthorized', stack: 'at /srv/app/http.js' }

  const entries = entriesOf({ ...olderTree('run-1'), children: [], error })

  expect(entries?.found[1]).toMatchObject({
    error: { name: 'Error', message: '401 Unauthorized', cause: null },
    attributes: { error: { status: 401, statusText: 'Unauthorized' } },
  })
  expect(JSON.stringify(entries)).not.toContain('/srv/app')
})
