import { describe, expect, test } from 'vitest'
import { readPoll, sendPoll } from '../../../../../../src/service/engine/calls/stream/poll.ts'
import { RpcError } from '../../../../../../src/service/engine/transport/transport.ts'
import {
  ResourceExhaustedCause,
  UpdateWorkflowExecutionLifecycleStage,
} from '../../../../../../src/shared/temporal/enums.ts'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import { toPayload } from '../../../../../../src/shared/temporal/payload.ts'
import { payloadToWire } from '../../../../../../src/shared/temporal/payload-wire.ts'
import { STREAM_POLL } from '../../../../../../src/shared/wire/stream.ts'
import { aCall, rejection } from '../../../../call.ts'
import { scriptedContext } from '../scripted-context.ts'

const RUN = { workflowId: 'w', runId: 'r' }

const { ACCEPTED } = UpdateWorkflowExecutionLifecycleStage
const ADMITTED = 1

// https://github.com/temporalio/api/blob/master/temporal/api/enums/v1/failed_cause.proto
const CONCURRENT_LIMIT = 2

const wire = (value: unknown) => payloadToWire(toPayload(value))

const succeeded = (value: unknown) => ({ outcome: { success: { payloads: [toPayload(value)] } } })

const failed = (type: string, message: string, more: object = {}) => ({
  outcome: { failure: { message, applicationFailureInfo: { type }, ...more } },
})

/** The answer to a poll from this offset, to which the engine responds so. */
const poll = (response: object, from = 3) => sendPoll(scriptedContext(response).context, RUN, from, aCall())

const rejected = (code: number, message: string) => new RpcError(message, { code, details: [] })

test('poll: its update id follows from the offset, and reading it sends no update', async () => {
  const { context, sent } = scriptedContext(succeeded({ items: [], next_offset: 4, more_ready: false }))

  await sendPoll(context, RUN, 3, aCall())
  await readPoll(context, RUN, 3, aCall())

  expect(sent).toMatchObject([
    { method: 'updateWorkflowExecution', updateId: 'portico-stream/3', runId: 'r' },
    { method: 'pollWorkflowExecutionUpdate' },
  ])
})

describe('what a worker returns', () => {
  const item = { topic: 't', data: wire(1), offset: 3 }

  test('poll: is the values with their offsets, and where to continue', async () => {
    const items = [item, { topic: 'u', data: wire({ a: 'ä' }), offset: 4 }]

    const answer = await poll(succeeded({ items, next_offset: 5, more_ready: true }))

    expect(answer).toEqual({
      kind: 'chunk',
      isFull: true,
      chunk: {
        from: 3,
        next: 5,
        isStored: true,
        bytes: expect.any(Number),
        items: [
          { offset: 3, topic: 't', data: 1 },
          { offset: 4, topic: 'u', data: { a: 'ä' } },
        ],
      },
    })
  })

  test.each([
    ['nothing', { items: [], next_offset: 3, more_ready: false }],
    [
      'items, but an offset to continue that is not ahead',
      { items: [{ ...item, offset: 0 }], next_offset: 3, more_ready: true },
    ],
    ['an offset to continue that is behind', { items: [], next_offset: 1, more_ready: true }],
  ])('poll: is a run that is ending if it is %s, so that the same is not polled again', async (_, result) => {
    expect(await poll(succeeded(result))).toEqual({ kind: 'closing' })
  })

  test.each([
    ['null', null],
    ['a text', 'x'],
    ['no items', { next_offset: 4 }],
    ['items that are no array', { items: {}, next_offset: 4 }],
    ['an item without data', { items: [{ topic: 't', offset: 3 }], next_offset: 4 }],
    ['an item without an offset', { items: [{ topic: 't', data: '' }], next_offset: 4 }],
    ['a topic that is no text', { items: [{ ...item, topic: 1 }], next_offset: 4 }],
    ['offsets that descend', { items: [{ ...item, offset: 4 }, item], next_offset: 5 }],
    ['an offset twice', { items: [item, item], next_offset: 4 }],
    ['an item beyond the offset to continue', { items: [{ ...item, offset: 4 }], next_offset: 4 }],
    ['a negative offset', { items: [{ ...item, offset: -1 }], next_offset: 4 }],
    ['a fraction as offset', { items: [], next_offset: 4.5 }],
    ['an offset that no position can have', { items: [], next_offset: 1e15 }],
  ])('poll: is not a stream if it is %s', async (_, result) => {
    expect(await rejection(poll(succeeded(result)))).toMatchObject({ error: 'StreamNotFoundError', ...RUN })
  })

  test('poll: is bytes where an item is not a payload', async () => {
    const items = ['no base64!', '////////', ''].map((data, at) => ({ topic: 't', data, offset: 3 + at }))

    const answer = await poll(succeeded({ items, next_offset: 6, more_ready: false }))

    expect(answer).toMatchObject({
      chunk: {
        items: [
          { data: { encoding: '', data: btoa('no base64!') } },
          { data: { encoding: '', data: '////////' } },
          { data: { encoding: '', data: '' } },
        ],
      },
    })
  })

  test('poll: counts long topic names, and items that are empty', async () => {
    const bytesOf = async (topic: string, count: number) => {
      const items = Array.from({ length: count }, (_, at) => ({ topic, data: '', offset: 3 + at }))
      const answer = await poll(succeeded({ items, next_offset: 3 + count, more_ready: false }))
      return answer.kind === 'chunk' ? answer.chunk.bytes : 0
    }

    expect(await bytesOf('t'.repeat(100_000), 1)).toBeGreaterThan(100_000)
    expect(await bytesOf('', 10_000)).toBeGreaterThan(1_000_000)
  })

  test('poll: names the encoding of an answer that only a codec can decode', async () => {
    const encoded = { metadata: { encoding: new TextEncoder().encode('binary/opaque') }, data: Uint8Array.of(1) }

    const error = await rejection(poll({ outcome: { success: { payloads: [encoded] } } }))

    expect(error).toMatchObject({ error: 'NotSupportedError', message: expect.stringContaining('"binary/opaque"') })
  })
})

describe('what a worker fails with', () => {
  test('poll: a truncated offset leads to the first one that is kept', async () => {
    const answer = await poll(failed('TruncatedOffset', 'gone. Current base offset is 25.'))

    expect(answer).toMatchObject({ kind: 'chunk', isFull: true, chunk: { from: 3, items: [], next: 25 } })
  })

  test.each(['no number', 'base offset is 3', 'base offset is 1', `base offset is ${'9'.repeat(400)}`])(
    'poll: a truncated offset that leads nowhere is a failure: %s',
    async (message) => {
      expect(await rejection(poll(failed('TruncatedOffset', message)))).toMatchObject({ error: 'UpdateFailedError' })
    },
  )

  test.each([
    failed('StreamDraining', 'the workflow continues as new'),
    failed('AcceptedUpdateCompletedWorkflow', 'the run has ended', { source: 'Server' }),
    { outcome: { failure: { message: 'Workflow cancelled', canceledFailureInfo: {} } } },
  ])('poll: the run is ending: %j', async (response) => {
    expect(await poll(response)).toEqual({ kind: 'closing' })
  })

  test('poll: only the engine can say that the run has ended', async () => {
    const response = failed('AcceptedUpdateCompletedWorkflow', 'says a worker', { source: 'TypeScriptSDK' })

    expect(await rejection(poll(response))).toMatchObject({ error: 'UpdateFailedError' })
  })

  test('poll: a handler that does not exist means that there is no stream', async () => {
    const response = failed('Error', `No registered handler for update: ${STREAM_POLL}`)

    expect(await rejection(poll(response))).toMatchObject({ error: 'StreamNotFoundError' })
  })
})

describe('what the engine rejects', () => {
  test.each([
    [GrpcCode.NOT_FOUND, 'workflow execution already completed', 'closing'],
    [GrpcCode.NOT_FOUND, 'workflow update was aborted by closing workflow', 'closing'],
    [
      GrpcCode.FAILED_PRECONDITION,
      'The limit on the total number of distinct updates in this workflow has been reached (20)',
      'exhausted',
    ],
    [GrpcCode.FAILED_PRECONDITION, 'Workflow is paused. Cannot update the workflow.', 'unready'],
  ])('poll: code %i, %s: %s', async (code, message, kind) => {
    expect(await poll(rejected(code, message))).toEqual({ kind })
  })

  test.each([
    ['workflow operation can not be applied because workflow is closing', ResourceExhaustedCause.BUSY_WORKFLOW],
    ['limit on number of concurrent in-flight updates has been reached (10)', CONCURRENT_LIMIT],
  ])('poll: a limit of the run is no limit of the engine: %s', async (message, cause) => {
    const busy = { name: 'ResourceExhaustedFailure', fields: { cause } }
    const error = new RpcError(message, { code: GrpcCode.RESOURCE_EXHAUSTED, details: [busy] })

    expect(await poll(error)).toEqual({ kind: 'unready' })
  })

  test.each([
    [GrpcCode.NOT_FOUND, 'workflow not found for ID: w'],
    [GrpcCode.RESOURCE_EXHAUSTED, 'namespace concurrent poller limit exceeded'],
  ])('poll: code %i, %s: says nothing about the stream', async (code, message) => {
    await expect(poll(rejected(code, message))).rejects.toMatchObject({ code, message })
  })
})

describe('what the engine has stored', () => {
  const read = (response: object) => readPoll(scriptedContext(response).context, RUN, 3, aCall())

  test('poll: is unknown if nothing was sent with its id', async () => {
    expect(await read(rejected(GrpcCode.NOT_FOUND, 'update "portico-stream/3" not found'))).toEqual({ kind: 'unknown' })
    const missing = rejected(GrpcCode.NOT_FOUND, 'workflow not found for ID: w')
    await expect(read(missing)).rejects.toBe(missing)
  })

  test('poll: is the end of the run if that has ended since', async () => {
    const aborted = rejected(GrpcCode.NOT_FOUND, 'workflow update was aborted by closing workflow')

    expect(await read(aborted)).toEqual({ kind: 'closing' })
  })

  test('poll: is pending until the workflow has answered it', async () => {
    expect(await read({ stage: ADMITTED })).toEqual({ kind: 'pending', isAccepted: false })
    expect(await read({ stage: ACCEPTED })).toEqual({ kind: 'pending', isAccepted: true })
    expect(await read({})).toEqual({ kind: 'pending', isAccepted: false })
  })
})
