import { temporal } from '@temporalio/proto'
import { expect, test } from 'vitest'
import { decodeEvents } from '../../../../../src/service/engine/events/decode-events.ts'
import { createEventToJson } from '../../../../../src/service/engine/events/event-json.ts'
import { httpSchema } from '../../../../../src/service/engine/transport/http/schema.ts'
import { createPayloadReader, toPayload } from '../../../../../src/shared/temporal/payload.ts'

const toJson = createEventToJson(httpSchema())
const reader = createPayloadReader(null)
const SHOWN = { payloads: true, redacted: false }

type EventProperties = temporal.api.history.v1.IHistoryEvent

/** As it arrives over gRPC. */
function received(event: EventProperties): EventProperties {
  const { HistoryEvent } = temporal.api.history.v1
  return HistoryEvent.decode(HistoryEvent.encode(event).finish())
}

async function shown(event: EventProperties, values = SHOWN) {
  const [json] = await decodeEvents([received(event)], toJson, reader, values)
  return JSON.parse(JSON.stringify(json))
}

test('events: every kind of event has its name, and none has attributes below their own key', async () => {
  const names = Object.keys(httpSchema().messages.HistoryEvent ?? {}).filter((name) => name.endsWith('EventAttributes'))
  const types = Object.entries(temporal.api.enums.v1.EventType).filter(([, number]) => typeof number === 'number')
  const events = names.map((name) => {
    const word = name.replace(/EventAttributes$/, '')
    const [, number] =
      types.find(([type]) => type.replaceAll('_', '').toLowerCase() === `eventtype${word}`.toLowerCase()) ?? []
    return { eventId: 1 as never, eventType: number as never, [name]: {} }
  })

  const json = await decodeEvents(events.map(received), toJson, reader, SHOWN)

  expect(names.length).toBeGreaterThan(50)
  expect(json.map(({ eventType }) => `${eventType}EventAttributes`.toLowerCase())).toEqual(
    names.map((name) => name.toLowerCase()),
  )
  expect(json.flatMap((event) => Object.keys(event)).filter((key) => key.endsWith('EventAttributes'))).toEqual([])
})

test('events: an event of a newer engine is Unknown', async () => {
  const found = await shown({ eventId: 7 as never, eventType: 999 as never })
  expect(found).toEqual({ eventId: 7, eventType: 'Unknown', eventTime: null })
})

test('events: values, enums, durations and times have one form, and what is not set is left out', async () => {
  const event = await shown({
    eventId: 5 as never,
    eventTime: { seconds: 1_795_338_000 as never, nanos: 5_000_000 },
    eventType: 12,
    version: 3 as never,
    taskId: 99 as never,
    links: [{ workflowEvent: { workflowId: 'other' } }],
    userMetadata: { summary: toPayload('charge the card') },
    activityTaskCompletedEventAttributes: {
      result: { payloads: [toPayload({ a: 1 }), toPayload(null)] },
      identity: '123@host',
      scheduledEventId: 0 as never,
    },
  })

  expect(event).toEqual({
    eventId: 5,
    eventType: 'ActivityTaskCompleted',
    eventTime: '2026-11-22T09:00:00.005Z',
    result: [{ a: 1 }, null],
    userMetadata: { summary: 'charge the card' },
  })
})

test('events: maps of payloads lose their wrappers, and a sticky queue its name', async () => {
  const fields = { a: toPayload(1) }
  const event = await shown({
    workflowExecutionStartedEventAttributes: {
      memo: { fields },
      header: { fields },
      searchAttributes: { indexedFields: { K: toPayload(['v']) } },
      taskQueue: { kind: 2, name: 'host:uuid', normalName: 'orders' },
      workflowRunTimeout: { seconds: 90 as never, nanos: 250_000_000 },
      initiator: 2,
    },
  })

  expect(event).toMatchObject({
    memo: { a: 1 },
    header: { a: 1 },
    searchAttributes: { K: ['v'] },
    taskQueue: { kind: 'Sticky', name: 'orders', normalName: 'orders' },
    workflowRunTimeout: '90.25s',
    initiator: 'Retry',
  })
})

test('events: the message of a failure is decoded, and has neither stack nor source at any depth (threat 82)', async () => {
  const encodedAttributes = toPayload({ message: 'decoded', stack_trace: 'at /home/ann/app.js:1' })
  const failure = { message: 'Encoded failure', source: 'TypeScriptSDK', stackTrace: 'at x', encodedAttributes }
  const event = await shown({
    workflowExecutionFailedEventAttributes: {
      failure: { ...failure, cause: { ...failure, canceledFailureInfo: { identity: 'me@host' } } },
      retryState: 1,
    },
  })

  expect(event).toMatchObject({
    failure: { message: 'decoded', cause: { message: 'decoded' } },
    retryState: 'InProgress',
  })
  expect(JSON.stringify(event)).not.toMatch(/stack|SDK|ann|host/)
})

test('events: only the message of a failed workflow task loses paths and addresses (threat 82)', async () => {
  const failure = { message: 'cannot read /home/ann/secret.txt', cause: { message: 'at 10.0.0.7' } }

  const task = await shown({ workflowTaskFailedEventAttributes: { failure } })
  const activity = await shown({ activityTaskFailedEventAttributes: { failure } })

  expect(task.failure).toEqual({ message: 'cannot read <path>', cause: { message: 'at <address>' } })
  expect(activity.failure).toEqual(failure)
})

test('events: values are left out, or replaced where workers redact theirs', async () => {
  const event = {
    markerRecordedEventAttributes: {
      markerName: 'm',
      details: { data: { payloads: [toPayload('x')] } },
      failure: { message: 'x' },
    },
  }
  const left = { eventId: 0, eventType: 'Unknown', eventTime: null, markerName: 'm' }

  expect(await shown(event, { payloads: false, redacted: false })).toEqual({ ...left, failure: { message: 'x' } })
  expect(await shown(event, { payloads: false, redacted: true })).toEqual({
    ...left,
    failure: { message: '[redacted]' },
  })
  const found = await shown(event, { payloads: true, redacted: true })
  expect(found).toEqual({ ...left, details: { data: ['[redacted]'] }, failure: { message: '[redacted]' } })
})
