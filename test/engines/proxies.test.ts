/** A proxy on the way to the engine that answers in its own name, over HTTP/1.1 and over HTTP/2. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { grpcTransport } from '../../src/engine/transport/grpc/transport.ts'
import { httpApiTransport } from '../../src/engine/transport/http/transport.ts'
import type { Transport } from '../../src/engine/transport/transport.ts'
import { call, refusal } from '../conformance/engine/engine-fixture.ts'

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const OVER: Record<Transport['name'], (status: number) => Promise<{ transport: Transport; count: () => number }>> = {
  async http(status) {
    let count = 0
    const proxy = createServer((request, response) => {
      count++
      request.resume().once('end', () => response.writeHead(status, { Location: '/elsewhere' }).end('<h1>proxy</h1>'))
    })
    const port = await listening(proxy)
    return { transport: httpApiTransport({ url: `http://127.0.0.1:${port}`, apiKey: null }), count: () => count }
  },
  async grpc(status) {
    let count = 0
    const proxy = createHttp2Server((_, response) => {
      count++
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>proxy</h1>')
    })
    const port = await listening(proxy)
    const transport = grpcTransport({ address: `127.0.0.1:${port}`, apiKey: null, tls: null })
    ends.unshift(() => transport.close())
    return { transport, count: () => count }
  },
}

async function listening(server: ReturnType<typeof createServer | typeof createHttp2Server>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
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
)('over $transport, a proxy’s $status is $error, and asked for once', async ({ transport: name, status, error }) => {
  const { transport, count } = await OVER[name](status)
  const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 1 << 20, codec: null })

  const refused = await refusal(
    engine.start({ workflowId: crypto.randomUUID(), workflowName: 'nothing', catalog: 'nobody', args: [null] }, call()),
  )

  expect([refused.error, count()]).toEqual([error, 1])
})
