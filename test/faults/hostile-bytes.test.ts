/** Bytes that no client would send, on a server as `npm start` runs it. */

import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { serveNode } from '../../src/service/runtime/node/server.ts'
import { test } from '../support/fixtures.ts'
import type { Service } from '../support/service.ts'
import { makeApi } from '../unit/service/http/api.ts'
import { answersOf, dial, flood } from './bytes.ts'

// The time limit of a request ends a connection after 28 s.
const ENDED_BY_RESPONSE_MS = 20_000

const TOKEN = 's3cret'
let service: Service

test.beforeAll(async ({ startService }) => {
  service = await startService({ env: { SERVICE_API_AUTH_TOKEN: TOKEN, SERVICE_HOST: '127.0.0.1' } })
})

/** What a whole request, sent as it is, was answered; the connection is ended after it. */
async function exchange(bytes: string | Uint8Array) {
  const wire = await dial(service.url)
  wire.socket.write(bytes)
  await wire.closed
  return answersOf(wire, 'GET', '/hostile')
}

function head(path: string, ...lines: string[]): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
}

const authorized = ['Connection: close', `Authorization: Basic ${TOKEN}`]

test('hostile bytes: an endless body without a token gets its response, and its connection is closed (threat 45)', async () => {
  const wire = await dial(service.url)

  wire.socket.write(head('/workflow/run', 'Transfer-Encoding: chunked'))
  const sending = setInterval(() => wire.socket.writable && wire.socket.write(`1000\r\n${'x'.repeat(0x1000)}\r\n`), 100)
  await until('it is answered', () => wire.text().includes('\r\n\r\n{'))
  await until('it has ended', () => wire.socket.destroyed, { timeoutMs: ENDED_BY_RESPONSE_MS })
  clearInterval(sending)

  expect(answersOf(wire, 'POST', '/workflow/run')).toMatchObject([{ status: 401, error: 'UnauthorizedError' }])
})

test('hostile bytes: without a token nothing of a body reaches our code (threat 1)', async () => {
  const touched: PropertyKey[] = []
  const { fetch } = makeApi({ auth: { tokens: [TOKEN] } })
  const server = await serveNode({
    host: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const watch: ProxyHandler<Request> = {
        get(target, key) {
          if (/^(?:body|bytes|blob|json|text|arrayBuffer|formData)$/.test(String(key))) touched.push(key)
          const value = Reflect.get(target, key, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }
      return fetch(new Proxy(request, watch))
    },
  })
  const wire = await dial(server.url)

  wire.socket.write(head('/workflow/run', 'Transfer-Encoding: chunked'))
  await flood(wire, `10000\r\n${'x'.repeat(0x10000)}\r\n`)
  await server.close()

  expect(wire.text()).toContain('401 Unauthorized')
  expect(touched).toEqual([])
})

test('hostile bytes: JSON nested 100 000 deep is a 400 (threat 47)', async () => {
  const body = `{"workflowName":"echo","input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`

  const answers = await exchange(head('/workflow/run', ...authorized, `Content-Length: ${body.length}`) + body)

  expect(answers).toMatchObject([{ status: 400, error: 'ValidationError' }])
})

test('hostile bytes: a gzip body is a 415, with or without Content-Encoding (threat 48)', async () => {
  const body = gzipSync(JSON.stringify({ workflowName: 'echo', input: 'x'.repeat(1_000_000) }))
  const send = (...lines: string[]) =>
    exchange(
      Buffer.concat([
        Buffer.from(head('/workflow/run', ...authorized, `Content-Length: ${body.length}`, ...lines)),
        body,
      ]),
    )

  expect(await send('Content-Encoding: gzip')).toMatchObject([{ status: 415, error: 'UnsupportedMediaTypeError' }])
  expect(await send()).toMatchObject([{ status: 400, error: 'ValidationError' }])
})

test('hostile bytes: 64 KiB of headers and a megabyte of query string are a 431 with the usual error body (threat 49)', async () => {
  const [headers, query] = await Promise.all([
    exchange(`GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(65_536)}\r\n\r\n`),
    exchange(`GET /health?${'x'.repeat(1_048_576)} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  ])

  expect(headers).toMatchObject([{ status: 431, error: 'PayloadTooLargeError' }])
  expect(query).toMatchObject([{ status: 431, error: 'PayloadTooLargeError' }])
  expect(headers[0]?.headers.get('Connection')).toBe('close')
})

test('hostile bytes: invalid HTTP is a 400 with the usual error body and closes its connection (threat 49)', async () => {
  const garbage = [
    'garbage\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost a\r\n\r\n',
    'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
    `${head('/workflow/run', `Authorization: Basic ${TOKEN}`, 'Transfer-Encoding: chunked')}zz\r\n`,
  ]

  const answers = await Promise.all(garbage.map((bytes) => exchange(Buffer.from(bytes, 'latin1'))))

  expect(answers.map(([first]) => [first?.status, first?.error])).toEqual(garbage.map(() => [400, 'ValidationError']))
  expect(answers.map((all) => all.length)).toEqual(garbage.map(() => 1))
})

test('hostile bytes: a missing Host, an unknown expectation and CONNECT get the usual error body (threat 49)', async () => {
  const requests = [
    'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: foo\r\nConnection: close\r\n\r\n',
    'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
  ]

  const answers = await Promise.all(requests.map(exchange))

  expect(answers.flat().map(({ status, error }) => [status, error])).toEqual([
    [400, 'ValidationError'],
    [417, 'ValidationError'],
    [405, 'MethodNotAllowedError'],
  ])
})

test("hostile bytes: garbage behind a whole request does not take that request's answer (threat 49)", async () => {
  const answers = await until('the engine responds in time', async () => {
    const wire = await dial(service.url)
    wire.socket.write(`GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n\0garbage\r\n\r\n`)
    await wire.closed
    const received = answersOf(wire, 'GET', '/ready')
    return received[0]?.status !== 503 && received
  })

  expect(answers).toMatchObject([{ status: 200 }])
})

test('hostile bytes: pipelined requests get their responses in order (threat 49)', async () => {
  const wire = await dial(service.url)

  wire.socket.write(
    `${'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50)}GET /workflow/x/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
  )
  await wire.closed

  const paths = [...Array<string>(50).fill('/health'), '/workflow/x/status']

  expect(answersOf(wire, 'GET', paths).map(({ status }) => status)).toEqual([...Array(50).fill(200), 401])
})
