import { expect, test } from 'vitest'
import {
  decodeFailure,
  type Failure,
  toErrorCause,
  toErrorDetails,
  toTraceError,
  withoutIdentities,
} from '../../../../src/shared/temporal/failure.ts'
import { createPayloadReader, toPayload } from '../../../../src/shared/temporal/payload.ts'

const PAYLOADS = createPayloadReader(null)

function application(message: string, type: string, more: Failure = {}): Failure {
  return { message, applicationFailureInfo: { type }, ...more }
}

function activity(activityId: string, cause: Failure | null): Failure {
  return { message: 'Activity task failed', activityFailureInfo: { activityId, identity: '17@host' }, cause }
}

function nexus(nexusHandlerFailureInfo: Failure['nexusHandlerFailureInfo'] & object, more: Failure = {}): Failure {
  return { nexusOperationExecutionFailureInfo: {}, cause: { nexusHandlerFailureInfo, ...more } }
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

test('toErrorDetails: keeps an application failure of that type which says something of its own', async () => {
  const cause = application('declined', 'CardDeclined')
  const saying: Failure[] = [
    application('Order 7 was not paid', 'ActivityFailure', { cause }),
    application('Activity task failed: order 7', 'ActivityFailure', { cause }),
    { message: 'Activity task failed', applicationFailureInfo: { type: 'ActivityFailure', nonRetryable: true }, cause },
    {
      message: 'Nexus operation completed unsuccessfully',
      applicationFailureInfo: { type: 'NexusOperationFailure', details: { payloads: [toPayload(7)] } },
      cause,
    },
  ]

  for (const failure of saying) {
    const { message } = failure
    expect(toErrorDetails(await decodeFailure(failure, PAYLOADS))).toMatchObject({
      message,
      cause: { name: 'CardDeclined' },
    })
  }
})

test('toErrorDetails: the trace that workers of the older generation add to a wrapper does not keep it', async () => {
  const details = { payloads: [toPayload({ trace: { local: '/traces/1.json' } })] }
  const failure: Failure = {
    message: 'Activity task failed',
    applicationFailureInfo: { type: 'ActivityFailure', details },
    cause: application('declined', 'CardDeclined'),
  }

  expect(toErrorDetails(await decodeFailure(failure, PAYLOADS))).toEqual(DECLINED)
})

test('toErrorDetails: unwraps the error of a Nexus handler around a cause, whatever its message', () => {
  const failure = nexus(
    { type: 'INTERNAL' },
    { message: 'handler error', cause: application('declined', 'CardDeclined') },
  )

  expect(toErrorDetails(failure)).toEqual(DECLINED)
})

test('toErrorDetails: the error of a Nexus handler without a cause has its type as the name', () => {
  const named = ['NOT_FOUND', 'UPSTREAM_TIMEOUT', ''].map((type) => toErrorDetails(nexus({ type })).name)

  expect(named).toEqual(['NOT_FOUND', 'UPSTREAM_TIMEOUT', 'Error'])
})

test('toErrorDetails: a Nexus error is retryable as its handler says, or else its type, unless its cause is not', () => {
  const final = { cause: { applicationFailureInfo: { nonRetryable: true } } }
  const rows: [Failure, boolean][] = [
    ...['BAD_REQUEST', 'UNAUTHENTICATED', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'NOT_IMPLEMENTED'].map(
      (type): [Failure, boolean] => [nexus({ type }), false],
    ),
    ...['INTERNAL', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'REQUEST_TIMEOUT', 'NEW_TYPE', ''].map(
      (type): [Failure, boolean] => [nexus({ type }), true],
    ),
    [nexus({ type: 'NOT_FOUND', retryBehavior: 1 }), true],
    [nexus({ type: 'INTERNAL', retryBehavior: 2 }), false],
    [nexus({ type: 'BAD_REQUEST' }, { cause: application('declined', 'X') }), false],
    [nexus({ type: 'INTERNAL', retryBehavior: 1 }, final), false],
  ]

  expect(rows.map(([failure]) => toErrorDetails(failure).retryable)).toEqual(rows.map(([, retryable]) => retryable))
})

test('toErrorDetails: a timeout has the details of the last heartbeat, if there was one, and no others', async () => {
  const lastHeartbeatDetails = { payloads: [toPayload({ row: 120 }), toPayload(7)] }
  const timeouts = [{ lastHeartbeatDetails }, { lastHeartbeatDetails: { payloads: [] } }, {}]

  const details = timeouts.map(async (timeoutFailureInfo) => {
    const decoded = await decodeFailure(activity('1', { timeoutFailureInfo }), PAYLOADS)
    return toTraceError(toErrorDetails(decoded))
  })

  expect(await Promise.all(details)).toEqual([
    { name: 'TimeoutFailure', message: '', lastHeartbeatDetails: [{ row: 120 }, 7], cause: null },
    { name: 'TimeoutFailure', message: '', cause: null },
    { name: 'TimeoutFailure', message: '', cause: null },
  ])
})

test('withoutIdentities: removes the identities that SDKs write into messages, and nothing else (threat 82)', () => {
  const go = (identity: string) =>
    `activity error (type: Charge, scheduledEventID: 5, startedEventID: 6${identity}): no`
  const java = (identity: string) => `scheduledEventId=5, activityId=a${identity}, retryState=RETRY_STATE_TIMEOUT`
  const rows = new Map([
    [go(', identity: 4711@host@'), go('')],
    [`order 7: ${go(', identity: worker (blue)')} ${go(', identity: ')}`, `order 7: ${go('')} ${go('')}`],
    [`Error: ${java(", identity='17@it's'")} or ${java(", identity=''")}`, `Error: ${java('')} or ${java('')}`],
    ['mail 12@example.com, identity: 4711@host)', 'mail 12@example.com, identity: 4711@host)'],
    ["User{identity='12@host', age=7}", "User{identity='12@host', age=7}"],
  ])

  expect([...rows.keys()].map(withoutIdentities)).toEqual([...rows.values()])
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

test('toErrorCause: has no stack, host or identity (threat 82)', () => {
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
