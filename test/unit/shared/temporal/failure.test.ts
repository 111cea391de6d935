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

const NAMED = { ...DECLINED, name: 'ActivityFailure' }
const CHARGE = activity('3', application('declined', 'CardDeclined'))
const OF_CHILD: Failure = { message: 'Child Workflow execution failed', childWorkflowExecutionFailureInfo: {} }
const RETHROWN = application('Activity task failed', 'ActivityFailure', { cause: CHARGE })
const OF_NEXUS: Failure = { message: 'handler error', cause: application('declined', 'CardDeclined') }

test.for<[what: string, failure: Failure, details: object]>([
  ['the failure itself', application('declined', 'CardDeclined', { stackTrace: 'at /app', source: 'GoSDK' }), DECLINED],
  ['what is in an activity', CHARGE, { ...DECLINED, activityId: '3' }],
  ['what is in a child workflow', { ...OF_CHILD, cause: CHARGE }, { ...DECLINED, activityId: '3' }],
  [
    'of two activities the nearest one',
    activity('1', { ...OF_CHILD, cause: CHARGE }),
    { ...DECLINED, activityId: '3' },
  ],
  ['what is in a Nexus operation', { ...nexus({}), cause: OF_NEXUS.cause ?? null }, DECLINED],
  ['what is in the error of a Nexus handler', nexus({ type: 'INTERNAL' }, OF_NEXUS), DECLINED],
  ['what an activity says that is thrown again', RETHROWN, { ...DECLINED, activityId: '3' }],
  [
    'what a child says that is thrown again',
    application('Child Workflow execution failed', 'ChildWorkflowFailure', { cause: { ...OF_CHILD, cause: RETHROWN } }),
    { ...DECLINED, activityId: '3' },
  ],
  ['a wrapper without a cause', activity('1', null), { ...NAMED, message: 'Activity task failed', activityId: '1' }],
  ['an error of that name', application('mine', 'ActivityFailure'), { ...NAMED, message: 'mine' }],
])('toErrorDetails: is %s', ([, failure, details]) => {
  expect(toErrorDetails(failure)).toEqual(details)
})

const FINAL = { cause: { applicationFailureInfo: { nonRetryable: true } } }

test.for<[failure: Failure, name: string, retryable: boolean]>([
  [{ timeoutFailureInfo: {} }, 'TimeoutFailure', true],
  [{ canceledFailureInfo: {} }, 'CanceledFailure', false],
  [{ terminatedFailureInfo: {} }, 'TerminatedFailure', false],
  [{ applicationFailureInfo: { type: '' } }, 'Error', true],
  [{ applicationFailureInfo: { nonRetryable: true } }, 'Error', false],
  [{ serverFailureInfo: {} }, 'Error', true],
  [{ serverFailureInfo: { nonRetryable: true } }, 'Error', false],
  [{}, 'Error', true],
  ...['BAD_REQUEST', 'UNAUTHENTICATED', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'NOT_IMPLEMENTED'].map(
    (type): [Failure, string, boolean] => [nexus({ type }), type, false],
  ),
  ...['INTERNAL', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'REQUEST_TIMEOUT', 'NEW_TYPE'].map(
    (type): [Failure, string, boolean] => [nexus({ type }), type, true],
  ),
  [nexus({ type: '' }), 'Error', true],
  [nexus({ type: 'NOT_FOUND', retryBehavior: 1 }), 'NOT_FOUND', true],
  [nexus({ type: 'INTERNAL', retryBehavior: 2 }), 'INTERNAL', false],
  [nexus({ type: 'BAD_REQUEST' }, { cause: application('declined', 'X') }), 'X', false],
  [nexus({ type: 'INTERNAL', retryBehavior: 1 }, FINAL), 'Error', false],
])('toErrorDetails: the name of %j is %s, and whether it is retryable %s', ([failure, name, retryable]) => {
  expect(toErrorDetails(failure)).toMatchObject({ name, retryable })
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
