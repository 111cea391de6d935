import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import {
  type TemporalEvent,
  toClosing,
  toStatus,
  unwrapOutput,
  unwrapWorkflowOutput,
} from '../../../../src/shared/temporal/outcome.ts'
import { createPayloadReader, toPayload } from '../../../../src/shared/temporal/payload.ts'

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1

test('toStatus: translates each status of the engine', () => {
  const words = Object.fromEntries(
    Object.values(WorkflowExecutionStatus)
      .filter(isNumber)
      .map((status) => [status, toStatus(status)]),
  )

  expect(words).toEqual({
    0: 'running',
    1: 'running',
    2: 'completed',
    3: 'failed',
    4: 'canceled',
    5: 'terminated',
    6: 'continued',
    7: 'timed_out',
    8: 'paused',
  })
})

test('toStatus: an unknown status is not an end', () => {
  expect([99, null, undefined].map(toStatus)).toEqual(['running', 'running', 'running'])
})

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

const PAYLOADS = createPayloadReader(null)

function closing(...events: TemporalEvent[]) {
  return toClosing(events, PAYLOADS)
}

test('toClosing: a completed run has its one value', async () => {
  expect(
    await closing({ workflowExecutionCompletedEventAttributes: { result: { payloads: [toPayload({ n: 1 })] } } }),
  ).toEqual({ outcome: { status: 'completed', output: { n: 1 } }, nextRunId: null })
})

test('toClosing: a completed run without a value has null', async () => {
  expect(await closing({ workflowExecutionCompletedEventAttributes: {} })).toMatchObject({ outcome: { output: null } })
})

test('toClosing: a failed run has its failure', async () => {
  const failure = { message: 'no', applicationFailureInfo: { type: 'No', nonRetryable: true } }

  expect(await closing({ workflowExecutionFailedEventAttributes: { failure } })).toEqual({
    outcome: {
      status: 'failed',
      error: { name: 'No', message: 'no', retryable: false, activityId: null, details: [], cause: null },
    },
    nextRunId: null,
  })
})

test('toClosing: a timeout is retryable', async () => {
  expect(await closing({ workflowExecutionTimedOutEventAttributes: {} })).toMatchObject({
    outcome: {
      status: 'timed_out',
      error: { name: 'TimeoutFailure', message: 'The workflow timed out', retryable: true },
    },
  })
})

test('toClosing: a terminated run has the reason', async () => {
  expect(
    await closing({ workflowExecutionTerminatedEventAttributes: { reason: 'enough', identity: 'admin@host' } }),
  ).toEqual({
    outcome: {
      status: 'terminated',
      error: {
        name: 'TerminatedFailure',
        message: 'The workflow was terminated: enough',
        retryable: false,
        activityId: null,
        details: [],
        cause: null,
      },
    },
    nextRunId: null,
  })
})

test('toClosing: a canceled run has the reason of the last request', async () => {
  const requests = ['first', 'last'].map(
    (cause): TemporalEvent => ({ workflowExecutionCancelRequestedEventAttributes: { cause } }),
  )

  expect(await closing(...requests, {}, { workflowExecutionCanceledEventAttributes: {} })).toMatchObject({
    outcome: {
      status: 'canceled',
      error: { name: 'CanceledFailure', message: 'The workflow was canceled: last', retryable: false },
    },
  })
})

test('toClosing: a missing reason is left out of the message', async () => {
  expect(await closing({ workflowExecutionCanceledEventAttributes: {} })).toMatchObject({
    outcome: { error: { message: 'The workflow was canceled' } },
  })
  expect(await closing({ workflowExecutionTerminatedEventAttributes: { reason: '' } })).toMatchObject({
    outcome: { error: { message: 'The workflow was terminated' } },
  })
})

test('toClosing: a continued run has its next run', async () => {
  expect(await closing({ workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId: 'next' } })).toEqual({
    outcome: { status: 'continued' },
    nextRunId: 'next',
  })
})

test('toClosing: completed, failed and timed out runs may have a next run', async () => {
  const newExecutionRunId = 'next'
  const closings = await Promise.all([
    closing({ workflowExecutionCompletedEventAttributes: { newExecutionRunId } }),
    closing({ workflowExecutionFailedEventAttributes: { newExecutionRunId } }),
    closing({ workflowExecutionTimedOutEventAttributes: { newExecutionRunId } }),
  ])

  expect(closings.map((end) => [end?.outcome.status, end?.nextRunId])).toEqual([
    ['completed', 'next'],
    ['failed', 'next'],
    ['timed_out', 'next'],
  ])
})

test('toClosing: is null without a close event', async () => {
  expect(await closing()).toBeNull()
  expect(await closing({ workflowExecutionPausedEventAttributes: {} })).toBeNull()
  expect(
    await closing({ workflowExecutionStartedEventAttributes: {} }, { workflowTaskScheduledEventAttributes: {} }),
  ).toBeNull()
})

const wrapped = (more: object) => ({ __output_workflow_wrapper_version: 1, ...more })

test('unwrapWorkflowOutput: takes output and trace out of the wrapper', () => {
  const trace = { destinations: { local: '/a.json', remote: 'https://b/a.json' } }

  expect(unwrapWorkflowOutput(wrapped({ output: [1], trace }))).toEqual({ output: [1], trace })
})

test('unwrapWorkflowOutput: output, trace and destinations are optional in the wrapper', () => {
  expect(unwrapWorkflowOutput(wrapped({}))).toEqual({ output: null, trace: null })
  expect(unwrapWorkflowOutput(wrapped({ trace: { destinations: { local: null } } })).trace).toBeNull()
  expect(unwrapWorkflowOutput(wrapped({ trace: 'nowhere' })).trace).toBeNull()
})

test('unwrapWorkflowOutput: returns a value without a wrapper unchanged', () => {
  const inherits = Object.create(wrapped({ output: 1 }))

  for (const output of [null, 1, 'x', [wrapped({ output: 1 })], { output: 1 }, inherits])
    expect(unwrapWorkflowOutput(output)).toEqual({ output, trace: null })
})

test('unwrapOutput: takes the output out of the wrapper of an activity, or of a child workflow', () => {
  expect(unwrapOutput({ __output_activity_wrapper_version: 1, output: 'a', aggregations: {} })).toBe('a')
  expect(unwrapOutput(wrapped({ output: 'b' }))).toBe('b')
  expect(unwrapOutput({ output: 'c' })).toEqual({ output: 'c' })
})
