import { afterEach, describe, expect, test, vi } from 'vitest'
import { RpcError } from '../../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../src/temporal/grpc-code.ts'
import { type SendOptions, transportOver, untilAborted } from './transport-over.ts'

afterEach(() => void vi.useRealTimers())

const execution = { workflowId: 'orders-17', runId: '' }

/** The error of a call that gets this response. */
function failureOf(answer: Parameters<typeof transportOver>[0], options?: SendOptions): Promise<unknown> {
  return transportOver(answer)
    .send('getSystemInfo', {}, options)
    .catch((reason: unknown) => reason)
}

describe('requests', () => {
  test('a read is a GET with the run in its path and the other fields in its query', async () => {
    const { sent, send } = transportOver(() => Response.json({}))

    await send('getWorkflowExecutionHistory', {
      namespace: 'default',
      execution: { workflowId: 'a b', runId: 'r1' },
      maximumPageSize: 7,
      nextPageToken: new Uint8Array([251, 255]),
      waitNewEvent: true,
      historyEventFilterType: 2,
    })

    const { method, url, body } = sent()
    expect([method, body]).toEqual(['GET', ''])
    expect(new URL(url).pathname).toBe('/api/v1/namespaces/default/workflows/a%20b/history')
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      'execution.runId': 'r1',
      maximumPageSize: '7',
      nextPageToken: '+/8=',
      waitNewEvent: 'true',
      historyEventFilterType: 'HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT',
    })
  })

  test('a list in a query repeats its field for each value', async () => {
    const { sent, send } = transportOver(() => Response.json({}))

    await send('describeTaskQueue', {
      namespace: 'default',
      taskQueue: { name: 'orders', kind: 1 },
      taskQueueTypes: [1, 2],
    })

    const { pathname, searchParams } = new URL(sent().url)
    expect(pathname).toBe('/api/v1/namespaces/default/task-queues/orders')
    expect([...searchParams]).toEqual([
      ['taskQueue.kind', 'TASK_QUEUE_KIND_NORMAL'],
      ['taskQueueTypes', 'TASK_QUEUE_TYPE_WORKFLOW'],
      ['taskQueueTypes', 'TASK_QUEUE_TYPE_ACTIVITY'],
    ])
  })

  test.for([{ execution: { workflowId: '' } }, { execution: null }, {}])(
    'nothing is sent when a part of the path is missing (%j)',
    async (request) => {
      const { count, send } = transportOver(() => Response.json({}))

      await expect(send('describeWorkflowExecution', { namespace: 'default', ...request })).rejects.toThrow(
        'execution.workflow_id',
      )
      expect(count()).toBe(0)
    },
  )

  test('a write is a POST with the whole request as JSON, bytes in base64', async () => {
    const { sent, send } = transportOver(() => Response.json({}))

    await send('updateWorkflowExecution', {
      namespace: 'default',
      workflowExecution: execution,
      request: {
        meta: { updateId: 'u1' },
        input: { name: 'set', args: { payloads: [{ data: new Uint8Array([1, 2]) }] } },
      },
    })

    const { method, url, body } = sent()
    expect([method, new URL(url).pathname]).toEqual([
      'POST',
      '/api/v1/namespaces/default/workflows/orders-17/update/set',
    ])
    expect(JSON.parse(body)).toEqual({
      namespace: 'default',
      workflowExecution: { workflowId: 'orders-17' },
      request: { meta: { updateId: 'u1' }, input: { name: 'set', args: { payloads: [{ data: 'AQI=' }] } } },
    })
  })

  test('headers set the payload format, the supported features, the deadline and the key', async () => {
    vi.useFakeTimers()
    const { sent, send } = transportOver(() => Response.json({}), { apiKey: 'k3y' })

    await send('getSystemInfo', {}, { timeoutMs: 1500 })

    const { headers } = sent()
    expect(headers.get('Accept')).toBe('application/json+no-payload-shorthand')
    expect(headers.get('Content-Type')).toBe('application/json+no-payload-shorthand')
    expect(headers.get('Grpc-Metadata-Supported-Features')).toBe('follows-next-run-id')
    expect(headers.get('Grpc-Timeout')).toBe('1500m')
    expect(headers.get('Authorization')).toBe('Bearer k3y')
  })

  test('a base URL may have a path and end with a slash', async () => {
    const { sent, send } = transportOver(() => Response.json({}), { url: 'https://proxy.example/temporal/' })

    await send('getSystemInfo', {})

    expect(sent().url).toBe('https://proxy.example/temporal/api/v1/system-info')
  })

  test('nothing is sent for a caller that went away before the call', async () => {
    const { count, send } = transportOver(() => Response.json({}))

    const error = await send('getSystemInfo', {}, { signal: AbortSignal.abort() }).catch((reason: unknown) => reason)

    expect(error).toMatchObject({ code: GrpcCode.CANCELLED, mayHaveBeenSent: false })
    expect(count()).toBe(0)
  })

  test('nothing is sent for a caller that goes away while the message types are loaded', async () => {
    const { count, send } = transportOver(() => Response.json({}))
    const caller = new AbortController()

    const sending = send('getSystemInfo', {}, { signal: caller.signal }).catch((reason: unknown) => reason)
    caller.abort()

    expect(await sending).toMatchObject({ code: GrpcCode.CANCELLED, mayHaveBeenSent: false })
    expect(count()).toBe(0)
  })
})

describe('responses', () => {
  test('a response has the defaults of a gRPC message, and drops fields that are newer than our types', async () => {
    const { send } = transportOver(() =>
      Response.json({ runId: 'r1', tomorrow: { a: 1 }, status: 'WORKFLOW_EXECUTION_STATUS_OF_TOMORROW' }),
    )

    const answer = await send('startWorkflowExecution', { namespace: 'default', workflowId: 'w' })

    expect([answer.runId, answer.started, answer.firstExecutionRunId, answer.link]).toEqual(['r1', false, '', null])
  })

  test('an error has its gRPC code, message and details', async () => {
    const details = [
      { '@type': 'type.googleapis.com/temporal.api.errordetails.v1.NotFoundFailure' },
      { '@type': 'type.googleapis.com/of.tomorrow.Failure', a: 1 },
      { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '1.5s' },
    ]
    const error = await failureOf(() => Response.json({ code: 5, message: 'not here', details }, { status: 404 }))

    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({ code: 5, message: 'not here' })
    expect((error as RpcError).details.map(({ name }) => name)).toEqual(['NotFoundFailure', 'Failure', 'Duration'])
  })

  test('details of an error are decoded, enums by name or by number', async () => {
    const type = 'type.googleapis.com/temporal.api.errordetails.v1'
    const details = [
      { '@type': `${type}.ResourceExhaustedFailure`, cause: 'RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW', scope: 2 },
      { '@type': `${type}.WorkflowExecutionAlreadyStartedFailure`, runId: 'r1' },
    ]
    const error = await failureOf(() => Response.json({ code: 8, message: 'busy', details }, { status: 429 }))

    expect((error as RpcError).details).toEqual([
      { name: 'ResourceExhaustedFailure', fields: { cause: 5, scope: 2 } },
      { name: 'WorkflowExecutionAlreadyStartedFailure', fields: { runId: 'r1' } },
    ])
  })

  test.for([
    { message: { toString: 1 } },
    { message: 1, details: {} },
    { details: [null, 1, {}, { '@type': { toString: 1 } }] },
  ])('an error of an unexpected shape (%j) is still an error', async (shape) => {
    const found = await failureOf(() => Response.json({ code: 5, ...shape }, { status: 404 }))
    expect(found).toMatchObject({ name: 'RpcError', code: 5, message: '' })
  })

  test.for([
    { status: 401, code: GrpcCode.UNAUTHENTICATED },
    { status: 403, code: GrpcCode.PERMISSION_DENIED },
    { status: 302, code: GrpcCode.INTERNAL },
    { status: 404, code: GrpcCode.INTERNAL },
    { status: 413, code: GrpcCode.INVALID_ARGUMENT },
    { status: 429, code: GrpcCode.UNAVAILABLE },
    { status: 500, code: 2 },
    { status: 502, code: GrpcCode.UNAVAILABLE },
    { status: 503, code: GrpcCode.UNAVAILABLE },
    { status: 504, code: GrpcCode.UNAVAILABLE },
  ])('a page of a proxy with status $status is code $code', async ({ status, code }) => {
    expect(await failureOf(() => new Response('<h1>proxy</h1>', { status }))).toMatchObject({ code })
  })

  test('JSON of a proxy with a code that gRPC does not have is judged by its status', async () => {
    expect(await failureOf(() => Response.json({ code: 503, message: 'no upstream' }, { status: 503 }))).toMatchObject({
      code: GrpcCode.UNAVAILABLE,
    })
  })

  test.for(['null', '1', '"x"', '[]', '[{"code":5}]', '{"code":"5"}'])(
    'JSON of a proxy that is not an error is judged by its status: %s',
    async (text) => {
      expect(await failureOf(() => new Response(text, { status: 503 }))).toMatchObject({
        name: 'RpcError',
        code: GrpcCode.UNAVAILABLE,
      })
    },
  )

  test.for(['<html>', '', 'null', '[]', '{"runId": 1}'])(
    'a success that is not a response of the engine (%s) is an unknown error',
    async (text) => {
      const { send } = transportOver(() => new Response(text))

      expect(
        await send('startWorkflowExecution', { namespace: 'n', workflowId: 'w' }).catch((reason: unknown) => reason),
      ).toMatchObject({ name: 'RpcError', code: 2 })
    },
  )

  test('a redirect is not followed', async () => {
    const { sent, send } = transportOver(
      () => new Response(null, { status: 302, headers: { Location: 'https://evil.example/' } }),
    )

    expect(await send('getSystemInfo', {}).catch((reason: unknown) => reason)).toMatchObject({
      code: GrpcCode.INTERNAL,
    })
    expect(sent().redirect).toBe('manual')
  })
})

test.for([200, 404, 503])('a response with status %i leaves no timer behind', async (status) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { send } = transportOver(() => Response.json({}, { status }))

  await send('getSystemInfo', {}).catch(() => {})

  expect(vi.getTimerCount()).toBe(0)
})

describe('missing responses', () => {
  test('the deadline passes, here or on the engine first', async () => {
    const slow = await failureOf(untilAborted, { timeoutMs: 20 })
    const faster = await failureOf(() => Response.json({ code: 1, message: 'context canceled' }, { status: 499 }))

    expect(slow).toMatchObject({ code: GrpcCode.DEADLINE_EXCEEDED })
    expect(faster).toMatchObject({ code: GrpcCode.DEADLINE_EXCEEDED })
  })

  test('the caller goes away', async () => {
    const caller = new AbortController()
    const hang = (signal: AbortSignal) => {
      const hanging = untilAborted(signal)
      caller.abort()
      return hanging
    }

    expect(await failureOf(hang, { signal: caller.signal })).toMatchObject({ code: GrpcCode.CANCELLED })
  })

  test.for([
    ['Node', new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })],
    ['Bun', Object.assign(new TypeError('Unable to connect'), { code: 'ECONNREFUSED' })],
    [
      'Deno',
      new TypeError('fetch failed', {
        cause: new Error('error sending request for url (…): client error (Connect): tcp connect error'),
      }),
    ],
  ] as const)('a rejected connection, as %s reports it, was never sent', async ([, fault]) => {
    expect(await failureOf(() => Promise.reject(fault))).toMatchObject({
      code: GrpcCode.UNAVAILABLE,
      mayHaveBeenSent: false,
    })
  })

  test.for([
    new Error('other side closed'),
    Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', syscall: 'read' }),
    Object.assign(new Error('wrong version number'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
  ])('a request on a connection that breaks may have been sent: %s', async (cause) => {
    expect(await failureOf(() => Promise.reject(new TypeError('fetch failed', { cause })))).toMatchObject({
      code: GrpcCode.UNAVAILABLE,
      mayHaveBeenSent: true,
    })
  })
})
