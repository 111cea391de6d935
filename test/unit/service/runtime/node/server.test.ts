import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { serveNode } from '../../../../../src/service/runtime/node/server.ts'
import type { Listener } from '../../../../../src/service/runtime/service.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { makeApi } from '../../http/api.ts'
import { result } from '../../http/run-api.ts'

const open: { server: Listener; sockets: Socket[] }[] = []

afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy()
    await server.close()
  }
})

/** The app on a real socket. */
async function serveApi(options: Parameters<typeof makeApi>[0] = {}) {
  const api = makeApi(options)
  const server = await serveNode({ fetch: api.fetch, loadShedder: api.loadShedder, host: '127.0.0.1', port: 0 })
  const sockets: Socket[] = []
  open.push({ server, sockets })

  /** A connection as bytes: what was received so far, and whether the server has ended it. */
  async function dial() {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    sockets.push(socket)
    const seen = { text: '', closed: false }
    socket.on('data', (chunk) => {
      seen.text += chunk.toString('latin1')
    })
    socket.on('close', () => {
      seen.closed = true
    })
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    return { socket, seen }
  }

  return { ...api, server, dial }
}

/** One connection to an app of its own. */
async function dialApi(options: Parameters<typeof makeApi>[0] = {}) {
  const { dial } = await serveApi(options)
  return dial()
}

const POST_JSON = 'POST /workflow/run HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

/** A workflow whose result comes when the test says so. */
function slowResult() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const seen = { called: false, aborted: false }
  const workflows: Partial<Workflows> = {
    result: async (_ref, { signal }) => {
      seen.called = true
      signal.addEventListener('abort', () => {
        seen.aborted = true
        resolve()
      })
      await promise
      return result
    },
  }
  return { workflows, seen, finish: resolve }
}

test('serveNode: the response to a rejected body is the last on its connection and is not lost to a reset (threat 49)', async () => {
  const { socket, seen } = await dialApi()
  const errors: Error[] = []
  socket.on('error', (error) => errors.push(error))

  socket.write(`${POST_JSON}Content-Length: 3145728\r\n\r\n`)
  await expect
    .poll(() => seen.text)
    .toMatch(/413 Payload Too Large[\s\S]*connection: close[\s\S]*PayloadTooLargeError/i)
  socket.write(Buffer.alloc(3_145_728, 0x20))
  await expect.poll(() => seen.closed).toBe(true)

  expect(errors).toEqual([])
})

test('serveNode: a request that is rejected because of too many others gets its response if the server is closed meanwhile', async () => {
  const { loadShedder, server, dial } = await serveApi({ maxInFlight: 0 })
  const { socket, seen } = await dial()
  let closing: Promise<void> | undefined
  const { isActive } = loadShedder
  loadShedder.isActive = () => {
    // The request has arrived, and its response is not ready.
    closing = server.close()
    return isActive()
  }

  socket.write(`${POST_JSON}Content-Length: 2\r\n\r\n{}`)
  await expect.poll(() => seen.closed).toBe(true)
  await closing

  expect(seen.text).toContain('503 Service Unavailable')
})

test('serveNode: a small rejected body does not close the connection', async () => {
  const { socket, seen } = await dialApi()

  socket.write('POST /workflow/run HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello')
  await expect.poll(() => seen.text).toContain('415 Unsupported Media Type')
  socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')

  await expect.poll(() => seen.text).toContain('200 OK')
})

test('serveNode: a client that keeps its connections loses no request after a rejected one', async () => {
  const { server } = await serveApi()
  const post = (body: string) =>
    fetch(`${server.url}/workflow/run`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })

  const statuses: number[] = []
  for (let round = 0; round < 20; round += 1) {
    statuses.push((await post('x'.repeat(3_145_728))).status, (await post('{}')).status)
  }

  expect(statuses).toEqual(Array.from({ length: 20 }, () => [413, 400]).flat())
})

test('serveNode: a Host that is another spelling of an IPv6 address is that address', async () => {
  const { dial } = await serveApi()
  for (const [host, status] of [
    ['[2001:db8:0:0:0:0:0:1]', 200],
    ['[2001:DB8::1]:3001', 200],
    ['[::1', 400],
  ]) {
    const { socket, seen } = await dial()

    socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)

    await expect.poll(() => seen.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  }
})

test('serveNode: a connection without a request stays open for as long as the configuration says', async () => {
  const { fetch } = makeApi()
  for (const [idleTimeoutMs, announced] of [
    [null, 'timeout=65'],
    [620_000, 'timeout=620'],
  ] as const) {
    const server = await serveNode({ fetch, host: '127.0.0.1', port: 0, idleTimeoutMs })
    open.push({ server, sockets: [] })

    expect((await globalThis.fetch(`${server.url}/health`)).headers.get('Keep-Alive')).toBe(announced)
  }
})

test.for<[title: string, request: string, answer: RegExp]>([
  [
    'a request target that is not a URL is a 400',
    'GET /workflow/a\\b/status HTTP/1.1\r\nHost: a\r\n\r\n',
    /^HTTP\/1.1 400 Bad Request[\s\S]*x-request-id: [\s\S]*"error":"ValidationError"/i,
  ],
  [
    'a request without Host is a 400',
    'GET /health HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n',
    /^HTTP\/1.1 400 Bad Request[\s\S]*x-request-id: mine[\s\S]*"error":"ValidationError"/i,
  ],
  [
    'an unknown expectation is a 417',
    'GET /health HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nX-Request-Id: mine\r\n\r\n',
    /^HTTP\/1.1 417 Expectation Failed[\s\S]*x-request-id: mine[\s\S]*"error":"ValidationError"/i,
  ],
  [
    'TRACE is a 405',
    'TRACE /workflow/run HTTP/1.1\r\nHost: a\r\n\r\n',
    /^HTTP\/1.1 405 Method Not Allowed[\s\S]*allow: POST[\s\S]*"error":"MethodNotAllowedError"/i,
  ],
  [
    'CONNECT is a 405',
    'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nX-Request-Id: mine\r\n\r\n',
    /^HTTP\/1.1 405 Method Not Allowed[\s\S]*X-Request-Id: mine[\s\S]*"error":"MethodNotAllowedError"/,
  ],
])('serveNode: %s with the error body and a request id', async ([, request, answer]) => {
  const { socket, seen } = await dialApi()

  socket.write(request)

  await expect.poll(() => seen.text).toMatch(answer)
  expect(seen.text).toMatch(/\r\nPortico-Error-Source: gateway\r\n/i)
  expect(seen.text).toMatch(/\r\nCache-Control: no-store\r\n/i)
  if (!request.startsWith('CONNECT')) return
  expect(seen.text).toContain('Allow: GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS\r\n')
  await expect.poll(() => seen.closed).toBe(true)
})

test.each([
  ['without a token', '', 'Content-Length: 20', 401],
  ['above the limit', 'Authorization: Basic s3cret\r\n', 'Content-Length: 99000000', 413],
  ['to no route', 'Authorization: Basic s3cret\r\n', 'Content-Length: 20', 404],
])(
  'serveNode: a body that is announced %s is rejected without 100 Continue (threat 49)',
  async (_, authorization, length, status) => {
    const { dial } = await serveApi({ auth: { tokens: ['s3cret'] } })
    const { socket, seen } = await dial()
    const path = status === 404 ? '/nope' : '/workflow/run'

    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\n${authorization}Content-Type: application/json\r\nExpect: 100-continue\r\n${length}\r\n\r\n`,
    )

    await expect.poll(() => seen.closed).toBe(true)
    expect(seen.text).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*x-request-id: `, 'i'))
    expect(seen.text).not.toContain('100 Continue')
  },
)

test('serveNode: a disconnect ends the wait of the request', async () => {
  const { workflows, seen } = slowResult()
  const { dial, events } = await serveApi({ workflows })
  const { socket } = await dial()

  socket.write('GET /workflow/w/result HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => seen.called).toBe(true)
  socket.destroy()

  await expect.poll(() => seen.aborted).toBe(true)
  await expect.poll(() => events).toMatchObject([{ fields: { status: 499 } }])
})

test('close: rejects new connections and finishes open requests with Connection: close', async () => {
  const { workflows, seen, finish } = slowResult()
  const { server, dial } = await serveApi({ workflows })
  const busy = await dial()
  busy.socket.write('GET /workflow/w/result HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => seen.called).toBe(true)

  const closed = server.close()

  await expect(fetch(`${server.url}/health`)).rejects.toThrow()
  finish()
  await closed
  await expect.poll(() => busy.seen.text).toMatch(/200 OK[\s\S]*connection: close[\s\S]*"output":1/i)
})
