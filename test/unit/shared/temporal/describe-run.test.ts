import Long from 'long'
import { expect, test } from 'vitest'
import { describeRun, toRunRef } from '../../../../src/shared/temporal/describe-run.ts'
import { VersioningBehavior, WorkflowExecutionStatus } from '../../../../src/shared/temporal/enums.ts'

test('describeRun: translates what Temporal describes', () => {
  const described = describeRun({
    execution: { workflowId: 'orders-17', runId: 'second' },
    firstRunId: 'first',
    type: { name: 'order' },
    taskQueue: 'orders',
    status: WorkflowExecutionStatus.COMPLETED,
    parentExecution: { workflowId: 'parent', runId: 'p' },
    startTime: { seconds: Long.fromNumber(1_700_000_000) },
    closeTime: { seconds: Long.fromNumber(1_700_000_001) },
    historyLength: Long.fromNumber(11),
    versioningInfo: {
      behavior: VersioningBehavior.PINNED,
      deploymentVersion: { deploymentName: 'orders', buildId: '2' },
    },
  })

  expect(described).toEqual({
    workflowId: 'orders-17',
    runId: 'second',
    firstRunId: 'first',
    workflowName: 'order',
    catalog: 'orders',
    status: 'completed',
    parent: { workflowId: 'parent', runId: 'p' },
    startedAt: new Date(1_700_000_000_000),
    completedAt: new Date(1_700_000_001_000),
    historyLength: 11,
    pinnedVersion: { deploymentName: 'orders', buildId: '2' },
    memo: {},
  })
})

test('describeRun: a run without a first run id is the first of its chain', () => {
  expect(describeRun({ execution: { workflowId: 'w', runId: 'r' } })).toMatchObject({ runId: 'r', firstRunId: 'r' })
})

test('describeRun: an open run without a parent has no end, parent or pinned version', () => {
  const described = describeRun({ status: WorkflowExecutionStatus.PAUSED, parentExecution: { workflowId: 'p' } })

  expect(described).toMatchObject({ status: 'paused', completedAt: null, parent: null, pinnedVersion: null })
})

test('toRunRef: is null unless both ids are set', () => {
  const found = [null, {}, { workflowId: 'w' }, { workflowId: 'w', runId: '' }].map(toRunRef)
  expect(found).toEqual([null, null, null, null])
  expect(toRunRef({ workflowId: 'w', runId: 'r' })).toEqual({ workflowId: 'w', runId: 'r' })
})
