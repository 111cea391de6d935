import { afterEach, describe, expect, test, vi } from 'vitest'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import { type SendOptions, transportOver, untilAborted } from './transport-over.ts'

afterEach(() => void vi.useRealTimers())

/** The error of a call that gets this response. */
function failureOf(answer: Parameters<typeof transportOver>[0], options?: SendOptions): Promise<unknown> {
  return transportOver(answer)
    .send('getSystemInfo', {}, options)
    .catch((reason: unknown) => reason)
}

describe('requests', () => {
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

  test('a redirect is not followed (threat 76)', async () => {
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
