import proto from '@temporalio/proto'
import fc from 'fast-check'
import type * as protobuf from 'protobufjs'
import protojson from 'protobufjs/ext/protojson.js'
import { describe, expect, test } from 'vitest'
import { createProtoJson } from '../../../../../../src/service/engine/transport/http/proto-json.ts'
import { httpSchema } from '../../../../../../src/service/engine/transport/http/schema.ts'
import { METHODS, type Method } from '../../../../../../src/service/engine/transport/transport.ts'
import { anyMessage, fieldsOf } from './any-message.ts'

const schema = httpSchema()
const { read, write } = createProtoJson(schema)
const root = proto as unknown as protobuf.Root
const service = root.lookupService('temporal.api.workflowservice.v1.WorkflowService')
const operatorService = root.lookupService('temporal.api.operatorservice.v1.OperatorService')

describe.for(METHODS)('beside protobufjs: %s', (method) => {
  const { requestType, responseType } = typesOf(method)

  test('every response is read back as the message that it was written from', () => {
    fc.assert(
      fc.property(anyMessage(responseType), (message) => {
        const bytes = responseType.encode(message).finish()
        const json = JSON.stringify(protojson.toJson(responseType, responseType.decode(bytes)))

        const answer = read(schema.calls[method].response, JSON.parse(json))

        expect(fieldsOf(responseType, answer)).toEqual(fieldsOf(responseType, responseType.decode(bytes)))
      }),
    )
  })

  test('every request is read by protobufjs as the message that it was written from', () => {
    fc.assert(
      fc.property(anyMessage(requestType), (message) => {
        const json = JSON.stringify(write(schema.calls[method].request, message))

        const there = protojson.fromJson(requestType, JSON.parse(json))

        const meant = requestType.decode(requestType.encode(message).finish())
        expect(fieldsOf(requestType, requestType.decode(requestType.encode(there).finish()))).toEqual(
          fieldsOf(requestType, meant),
        )
      }),
    )
  })
})

test('every message of the schema can be read, and has a default for each field', () => {
  for (const [name, fields] of Object.entries(schema.messages)) {
    if (['Any', 'Duration', 'FieldMask', 'Timestamp'].includes(name)) continue
    const message = new Map(
      Object.keys(fields).map((field) => [field, (read(name, {}) as Record<string, unknown>)[field]]),
    )
    expect([...message.values()], name).not.toContain(undefined)
  }
})

test('a field mask is one string, with the names of JSON', () => {
  const updateMask = { paths: ['retry_policy.maximum_attempts', 'task_queue.name'] }
  const type = 'UpdateActivityExecutionOptionsRequest'

  const written = write(type, { updateMask })

  expect(written).toEqual({ updateMask: 'retryPolicy.maximumAttempts,taskQueue.name' })
  expect(read(type, written)).toMatchObject({ updateMask })
})

describe('maps and bytes', () => {
  const KEYS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a.b', '7']

  test('keys of maps may be any string, such as __proto__', () => {
    const json = JSON.parse(`{"fields":{${KEYS.map((key) => `${JSON.stringify(key)}:{"data":"AQI="}`)}}}`)

    const { fields } = read('Memo', json) as { fields: Record<string, { data: Uint8Array }> }

    expect(Object.keys(fields).toSorted()).toEqual(KEYS.toSorted())
    for (const key of KEYS)
      expect(Object.getOwnPropertyDescriptor(fields, key)?.value.data).toEqual(new Uint8Array([1, 2]))
    expect(Object.keys((write('Memo', { fields }) as { fields: object }).fields).toSorted()).toEqual(KEYS.toSorted())
  })
})

test.for(['-_8=', '-_8', '+/8=', '+/8'])('bytes are read from every form of base64: %s', (data) => {
  expect(read('Payload', { data })).toHaveProperty('data', new Uint8Array([251, 255]))
})

describe('a newer engine', () => {
  test('unknown fields are left out, whatever their name', () => {
    const json = JSON.parse(
      '{"name":"greet","__proto__":{"name":"evil"},"constructor":1,"toString":{},"tomorrow":[null]}',
    )

    const type = read('WorkflowType', json)

    expect(Object.entries(type)).toEqual([['name', 'greet']])
    expect(String(type)).toBe('[object Object]')
  })

  test.for(['OF_TOMORROW', '__proto__', 'toString', ''])('the unknown enum name %s counts as not set', (name) => {
    expect(read('WorkflowExecutionInfo', { status: name })).toHaveProperty('status', 0)
    expect(read('DescribeTaskQueueRequest', { taskQueueTypes: [name, 'TASK_QUEUE_TYPE_NEXUS'] })).toHaveProperty(
      'taskQueueTypes',
      [3],
    )
  })

  test('unknown enum names are left out of maps', () => {
    const { read } = createProtoJson({ messages: { Lights: { byRoad: '{}Light' } }, enums: { Light: { RED: 1 } } })

    const { byRoad } = read('Lights', { byRoad: { a: 'OF_TOMORROW', b: 'RED' } }) as { byRoad: object }

    expect(Object.entries(byRoad)).toEqual([['b', 1]])
  })

  test('numbers of an enum are kept', () => {
    expect(read('WorkflowExecutionInfo', { status: 99 })).toHaveProperty('status', 99)
  })
})

test('a field of any kind that is null counts as not set', () => {
  const names = ['runId', 'started', 'status', 'link']

  const answer = read('StartWorkflowExecutionResponse', Object.fromEntries(names.map((name) => [name, null])))

  expect(Object.keys(answer)).toEqual([])
  expect(read('GetWorkflowExecutionHistoryResponse', { history: { events: null }, nextPageToken: null })).toMatchObject(
    { history: { events: [] }, nextPageToken: new Uint8Array() },
  )
  expect(
    write('StartWorkflowExecutionRequest', {
      workflowId: null,
      input: undefined,
      memo: null,
      requestEagerExecution: null,
    }),
  ).toEqual({})
})

describe('invalid messages', () => {
  test.for([
    ['a list for a message', 'WorkflowExecution', []],
    ['a text for a message', 'History', { events: ['x'] }],
    ['null in a list', 'History', { events: [null] }],
    ['a message for a list', 'History', { events: {} }],
    ['a list for a map', 'Memo', { fields: [] }],
    ['a number for a text', 'WorkflowType', { name: 1 }],
    ['half a character', 'WorkflowType', { name: '\ud800' }],
    ['half a character in a key', 'Memo', { fields: { '\ud800': {} } }],
    ['a text for a number', 'WorkflowExecutionInfo', { historyLength: 'x' }],
    ['an empty text for a number', 'WorkflowExecutionInfo', { historyLength: '' }],
    ['a fraction', 'PendingActivityInfo', { attempt: 1.5 }],
    ['a text for true', 'StartWorkflowExecutionResponse', { started: 'true' }],
    ['an object for an enum', 'WorkflowExecutionInfo', { status: {} }],
    ['no base64', 'Payload', { data: '#' }],
    ['a number for bytes', 'Payload', { data: 1 }],
    ['no time', 'HistoryEvent', { eventTime: 'yesterday' }],
    ['no day', 'HistoryEvent', { eventTime: '2026-13-01T00:00:00Z' }],
    ['no duration', 'RetryPolicy', { initialInterval: '1' }],
    ['nothing where numbers are', 'RetryPolicy', { backoffCoefficient: ' ' }],
  ] as const)('%s is rejected', ([, type, json]) => {
    expect(() => read(type, json)).toThrow()
  })

  test('messages nested deeper than gRPC allows', () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { cause: nested(depth - 1) })

    expect(read('Failure', nested(100))).toBeTypeOf('object')
    expect(() => read('Failure', nested(101))).toThrow()
    expect(() => read('Failure', nested(5000))).toThrow()
  })

  test('the error does not contain the value', () => {
    expect(() => read('Memo', { fields: { a: { data: ['secret'] } } })).toThrow(/^(?!.*secret)/)
  })
})

test('an Any is its name and its fields, which may contain others', () => {
  const inUse = {
    '@type': 'type.googleapis.com/temporal.api.errordetails.v1.WorkflowExecutionAlreadyStartedFailure',
    runId: 'r1',
  }
  const several = {
    '@type': 'type.googleapis.com/temporal.api.errordetails.v1.MultiOperationExecutionFailure',
    statuses: [{ code: 6, details: [inUse] }],
  }

  expect(read('Any', several)).toEqual({
    name: 'MultiOperationExecutionFailure',
    fields: {
      statuses: [{ code: 6, details: [{ name: 'WorkflowExecutionAlreadyStartedFailure', fields: { runId: 'r1' } }] }],
    },
  })
})

test.for([
  ['a type that is no text', { '@type': { toString: 1 } }, ''],
  ['no type', {}, ''],
  ['nothing', null, ''],
  ['a type of tomorrow', { '@type': 'x/of.tomorrow.Failure', a: 1 }, 'Failure'],
  ['a name that every object has', { '@type': 'toString' }, 'toString'],
  ['a type with a JSON of its own', { '@type': 'x/google.protobuf.Duration', value: '1.5s' }, 'Duration'],
  [
    'fields that are not the type’s',
    { '@type': 'x/temporal.api.errordetails.v1.ResourceExhaustedFailure', cause: {} },
    'ResourceExhaustedFailure',
  ],
] as const)('an Any with %s is a name alone', ([, json, name]) => {
  expect(read('Any', json)).toEqual({ name, fields: {} })
})

function typesOf(method: Method): { requestType: protobuf.Type; responseType: protobuf.Type } {
  const rpc = [...service.methodsArray, ...operatorService.methodsArray]
    .find(({ name }) => name.toLowerCase() === method.toLowerCase())
    ?.resolve() as protobuf.Method
  return {
    requestType: rpc.resolvedRequestType as protobuf.Type,
    responseType: rpc.resolvedResponseType as protobuf.Type,
  }
}
