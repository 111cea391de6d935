import { expect, test } from 'vitest'
import { entriesOfOlderTree, isOlderTree } from '../../../../src/service/traces/older-tree.ts'
import { olderTree } from '../../../support/older-tree.ts'

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

test('entriesOfOlderTree: a node that has not ended has no output, only a start', () => {
  const entries = entriesOf({ ...olderTree('run-1', { endedAt: null }), output: '<<Workflow did not finish yet.>>' })

  expect(entries?.found.filter(({ id }) => id === 'run-1')).toMatchObject([{ phase: 'began' }])
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
