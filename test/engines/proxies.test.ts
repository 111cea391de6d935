/** A proxy on the way to the engine that answers in its own name, over HTTP/1.1 and over HTTP/2. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { createEngine } from '../../src/service/engine/engine.ts'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { httpApiTransport } from '../../src/service/engine/transport/http/transport.ts'
import type { Transport } from '../../src/service/engine/transport/transport.ts'
import { call, rejection } from '../conformance/engine/engine-fixture.ts'
import { test } from '../support/fixtures.ts'

type StartProxy = (
  status: number,
  cleanup: AsyncDisposableStack,
) => Promise<{ transport: Transport; count: () => number }>

const OVER: Record<Transport['name'], StartProxy> = {
  async http(status, cleanup) {
    let count = 0
    const proxy = createServer((request, response) => {
      count++
      request.resume().once('end', () => response.writeHead(status, { Location: '/elsewhere' }).end('<h1>proxy</h1>'))
    })
    const port = await listening(proxy, cleanup)
    return { transport: httpApiTransport({ url: `http://127.0.0.1:${port}`, apiKey: null }), count: () => count }
  },
  async grpc(status, cleanup) {
    let count = 0
    const proxy = createHttp2Server((_, response) => {
      count++
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>proxy</h1>')
    })
    const port = await listening(proxy, cleanup)
    const transport = grpcTransport({ address: `127.0.0.1:${port}`, apiKey: null, tls: null })
    cleanup.defer(async () => void (await transport.close()))
    return { transport, count: () => count }
  },
}

async function listening(
  server: ReturnType<typeof createServer | typeof createHttp2Server>,
  cleanup: AsyncDisposableStack,
): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}

test.for(
  (['http', 'grpc'] as const).flatMap((transport) => [
    { transport, status: 302, error: 'EngineError' },
    { transport, status: 400, error: 'EngineError' },
    { transport, status: 404, error: 'EngineError' },
    { transport, status: 413, error: 'PayloadTooLargeError' },
    { transport, status: 414, error: 'EngineError' },
  ]),
)('over $transport, a proxy’s $status is $error and is requested once', async (expected, { cleanup }) => {
  const { transport, count } = await OVER[expected.transport](expected.status, cleanup)
  const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 1 << 20, codec: null })

  const rejected = await rejection(
    engine.start({ workflowId: crypto.randomUUID(), workflowName: 'nothing', catalog: 'nobody', args: [null] }, call()),
  )

  expect([rejected.error, count()]).toEqual([expected.error, 1])
})
