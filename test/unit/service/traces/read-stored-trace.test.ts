import { expect, test } from 'vitest'
import { toFoundTrace } from '../../../../src/service/traces/read-stored-trace.ts'
import { olderTree } from '../../../support/older-tree.ts'

const RUN = {
  workflowId: 'orders-17',
  runId: 'run-1',
  isOpen: false,
  startedAt: new Date(100_000),
  completedAt: new Date(200_000),
  destinations: async () => ({}),
}

const namedByWorkflow = JSON.stringify(olderTree('orders-17', { startedAt: 150_000 }))
const namedByRun = JSON.stringify(olderTree('run-1', { startedAt: 150_000 }))

test('toFoundTrace: with several namespaces, an older trace that is named by its workflow id alone is not shown (threat 23)', () => {
  const of = (isOnlyNamespace: boolean, json: string) =>
    toFoundTrace(RUN, { namespace: 'default', isOnlyNamespace }, json)

  expect(of(true, namedByWorkflow).entries).not.toEqual([])
  expect(() => of(false, namedByWorkflow)).toThrow('it may be the trace of a run in another namespace')
  expect(of(false, namedByRun).entries).toEqual(of(true, namedByRun).entries)
})
