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

const ERROR = { retryable: false, activityId: null, details: [], cause: null }
const FAILURE = { message: 'no', applicationFailureInfo: { type: 'No', nonRetryable: true } }
const CANCEL_REQUESTS = ['first', 'last'].map(
  (cause): TemporalEvent => ({ workflowExecutionCancelRequestedEventAttributes: { cause } }),
)
const TIMED_OUT = { ...ERROR, name: 'TimeoutFailure', message: 'The workflow timed out', retryable: true }
const terminated = (message: string) => ({ ...ERROR, name: 'TerminatedFailure', message })
const canceled = (message: string) => ({ ...ERROR, name: 'CanceledFailure', message })
const next = { newExecutionRunId: 'next' }

test.for<[what: string, events: TemporalEvent[], outcome: object, nextRunId?: string]>([
  [
    'a completed run has its one value',
    [{ workflowExecutionCompletedEventAttributes: { result: { payloads: [toPayload({ n: 1 })] } } }],
    { status: 'completed', output: { n: 1 } },
  ],
  [
    'without a value it has null',
    [{ workflowExecutionCompletedEventAttributes: {} }],
    { status: 'completed', output: null },
  ],
  [
    'a failed run has its failure',
    [{ workflowExecutionFailedEventAttributes: { failure: FAILURE } }],
    { status: 'failed', error: { ...ERROR, name: 'No', message: 'no' } },
  ],
  [
    'a timeout is retryable',
    [{ workflowExecutionTimedOutEventAttributes: {} }],
    { status: 'timed_out', error: TIMED_OUT },
  ],
  [
    'a terminated run has the reason',
    [{ workflowExecutionTerminatedEventAttributes: { reason: 'enough', identity: 'admin@host' } }],
    { status: 'terminated', error: terminated('The workflow was terminated: enough') },
  ],
  [
    'or none',
    [{ workflowExecutionTerminatedEventAttributes: { reason: '' } }],
    { status: 'terminated', error: terminated('The workflow was terminated') },
  ],
  [
    'a canceled run has the reason of the last request',
    [...CANCEL_REQUESTS, {}, { workflowExecutionCanceledEventAttributes: {} }],
    { status: 'canceled', error: canceled('The workflow was canceled: last') },
  ],
  [
    'or none',
    [{ workflowExecutionCanceledEventAttributes: {} }],
    { status: 'canceled', error: canceled('The workflow was canceled') },
  ],
  [
    'a continued run has its next run',
    [{ workflowExecutionContinuedAsNewEventAttributes: next }],
    { status: 'continued' },
    'next',
  ],
  [
    'a completed run may have one',
    [{ workflowExecutionCompletedEventAttributes: next }],
    { status: 'completed', output: null },
    'next',
  ],
  [
    'a failed run too',
    [{ workflowExecutionFailedEventAttributes: { failure: FAILURE, ...next } }],
    { status: 'failed', error: { ...ERROR, name: 'No', message: 'no' } },
    'next',
  ],
  [
    'and one that timed out',
    [{ workflowExecutionTimedOutEventAttributes: next }],
    { status: 'timed_out', error: TIMED_OUT },
    'next',
  ],
])('toClosing: %s', async ([, events, outcome, nextRunId = null]) => {
  expect(await closing(...events)).toEqual({ outcome, nextRunId })
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
