import { expect, test } from 'vitest'
import { decodeFailure, type Failure, toErrorCause, toErrorDetails } from '../../../src/temporal/failure.ts'
import { createPayloadReader, toPayload } from '../../../src/temporal/payload.ts'

const PAYLOADS = createPayloadReader(null)

function application(message: string, type: string, more: Failure = {}): Failure {
  return { message, applicationFailureInfo: { type }, ...more }
}

function activity(activityId: string, cause: Failure | null): Failure {
  return { message: 'Activity task failed', activityFailureInfo: { activityId, identity: '17@host' }, cause }
}

const DECLINED = {
  message: 'declined',
  name: 'CardDeclined',
  retryable: true,
  activityId: null,
  details: [],
  cause: null,
}

test('toErrorDetails: is the failure itself when it has no wrapper', () => {
  const failure = application('declined', 'CardDeclined', { stackTrace: 'at /app/orders.ts', source: 'GoSDK' })

  expect(toErrorDetails(failure)).toEqual(DECLINED)
})

test('toErrorDetails: unwraps an activity and names it', () => {
  expect(toErrorDetails(activity('7', application('declined', 'CardDeclined')))).toEqual({
    ...DECLINED,
    activityId: '7',
  })
})

test('toErrorDetails: unwraps a child workflow and names its activity, the nearest one', () => {
  const child: Failure = {
    message: 'Child failed',
    childWorkflowExecutionFailureInfo: {},
    cause: activity('2', application('declined', 'X')),
  }

  expect(toErrorDetails(activity('1', child))).toMatchObject({ message: 'declined', activityId: '2' })
})

test('toErrorDetails: unwraps a Nexus operation', () => {
  expect(toErrorDetails({ nexusOperationExecutionFailureInfo: {}, cause: application('declined', 'X') })).toMatchObject(
    { name: 'X' },
  )
})

test('toErrorDetails: unwraps an application failure that has the type of a wrapper and a cause', () => {
  const rethrown = application('Activity task failed', 'ActivityFailure', {
    cause: activity('3', application('declined', 'CardDeclined')),
  })
  const byParent = application('Child Workflow execution failed', 'ChildWorkflowFailure', {
    cause: { message: 'Child Workflow execution failed', childWorkflowExecutionFailureInfo: {}, cause: rethrown },
  })

  for (const failure of [rethrown, byParent]) expect(toErrorDetails(failure)).toEqual({ ...DECLINED, activityId: '3' })
})

test('toErrorDetails: keeps an application failure that has the type of a wrapper and no cause', () => {
  expect(toErrorDetails(application('mine', 'ActivityFailure'))).toMatchObject({
    name: 'ActivityFailure',
    message: 'mine',
  })
})

test('toErrorDetails: keeps the causes of the user’s failure', () => {
  const failure = application('outer', 'Outer', { cause: activity('1', application('inner', 'Inner')) })

  expect(toErrorDetails(failure)).toEqual({
    message: 'outer',
    name: 'Outer',
    retryable: true,
    activityId: null,
    details: [],
    cause: {
      name: 'ActivityFailure',
      message: 'Activity task failed',
      details: [],
      cause: { name: 'Inner', message: 'inner', details: [], cause: null },
    },
  })
})

test('toErrorDetails: is the wrapper when it has no cause', () => {
  const details = toErrorDetails(activity('1', null))
  expect(details).toMatchObject({ name: 'ActivityFailure', message: 'Activity task failed', activityId: '1' })
})

test('toErrorDetails: is not retryable when the failure says so, or was a cancellation or termination', () => {
  const failures: Failure[] = [
    { applicationFailureInfo: { nonRetryable: true } },
    { serverFailureInfo: { nonRetryable: true } },
    { canceledFailureInfo: {} },
    { terminatedFailureInfo: {} },
  ]

  expect(failures.map((failure) => toErrorDetails(failure).retryable)).toEqual([false, false, false, false])
})

test('toErrorDetails: a timeout is retryable', () => {
  expect(toErrorDetails({ timeoutFailureInfo: {} }).retryable).toBe(true)
})

test('toErrorDetails: names a failure without a type by its kind', () => {
  const failures: Failure[] = [
    { timeoutFailureInfo: {} },
    { canceledFailureInfo: {} },
    { terminatedFailureInfo: {} },
    { applicationFailureInfo: { type: '' } },
    { serverFailureInfo: {} },
    {},
  ]

  expect(failures.map((failure) => toErrorDetails(failure).name)).toEqual([
    'TimeoutFailure',
    'CanceledFailure',
    'TerminatedFailure',
    'Error',
    'Error',
    'Error',
  ])
})

test('toErrorCause: is truncated after ten causes', () => {
  const chain = Array.from({ length: 50 }, (_, depth) => depth).reduceRight<Failure>(
    (cause, depth) => application(`${depth}`, 'Deep', { cause }),
    {},
  )

  const messages: string[] = []
  for (let cause = toErrorCause(chain).cause; cause !== null; cause = cause.cause) messages.push(cause.message)

  expect(messages).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
})

test('toErrorCause: has no stack, host or identity', () => {
  const failure = activity('1', application('x', 'X', { stackTrace: 'at /app', source: 'GoSDK' }))

  expect(JSON.stringify(toErrorCause(failure))).not.toMatch(/app|host|GoSDK/)
})

test('decodeFailure: restores encoded messages along the whole chain', async () => {
  const hidden = (message: string): Failure => ({
    message: 'Encoded failure',
    encodedAttributes: toPayload({ message, stack_trace: 'at x' }),
  })

  const failure = await decodeFailure(
    { ...hidden('outer'), cause: { message: 'open', cause: hidden('root') } },
    PAYLOADS,
  )

  expect(toErrorCause(failure)).toMatchObject({
    message: 'outer',
    cause: { message: 'open', cause: { message: 'root' } },
  })
})

test('decodeFailure: keeps the message when the encoded one cannot be decoded', async () => {
  const failure = await decodeFailure(
    {
      message: 'Encoded failure',
      encodedAttributes: { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('x') },
    },
    PAYLOADS,
  )

  expect(failure.message).toBe('Encoded failure')
})

test('decodeFailure: returns a failure without encoded messages unchanged', async () => {
  const failure = application('a', 'A', { cause: application('b', 'B') })

  expect(await decodeFailure(failure, PAYLOADS)).toMatchObject(failure)
})

test('decodeFailure: decodes the details of the whole chain, encoded messages or not, with one call', async () => {
  const calls: number[] = []
  const payloads = {
    decode: (given: Parameters<typeof PAYLOADS.decode>[0]) => {
      calls.push(given?.length ?? 0)
      return PAYLOADS.decode(given)
    },
  }
  const withDetails = (type: string, ...details: unknown[]): Failure => ({
    applicationFailureInfo: { type, details: { payloads: details.map(toPayload) } },
  })
  const encoded: Failure = { encodedAttributes: toPayload({ message: 'outer' }), ...withDetails('Outer', { code: 1 }) }
  const canceled: Failure = { canceledFailureInfo: { details: { payloads: [toPayload('why')] } } }

  const failure = await decodeFailure(
    { ...encoded, cause: activity('1', { ...withDetails('Inner', null, [2]), cause: canceled }) },
    payloads,
  )

  expect(calls).toEqual([5])
  expect(toErrorDetails(failure)).toMatchObject({
    message: 'outer',
    details: [{ code: 1 }],
    cause: { details: [], cause: { name: 'Inner', details: [null, [2]], cause: { details: ['why'] } } },
  })
})
