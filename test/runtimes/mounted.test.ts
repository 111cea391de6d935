/** The handler below a path of somebody else's server. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, serve as serveHono } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, beforeAll, expect, inject, test } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { grpcTransport } from '../../src/engine/transport/grpc/transport.ts'
import { createPortico } from '../../src/portico.ts'
import { makeApi } from '../support/api.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { startWorker } from '../support/worker.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const catalog = `mounted-${crypto.randomUUID()}`
beforeAll(async () => {
  const worker = await startWorker({ address: inject('engine').address, taskQueue: catalog, catalog: testCatalog })
  return () => worker.stop()
})

function portico(basePath: string) {
  const config = parseConfig({ SERVICE_CATALOG_ID: catalog, SERVICE_ALLOW_ANONYMOUS: 'true' }, { binds: false })
  const transport = grpcTransport({ address: inject('engine').address, apiKey: null, tls: null })
  const made = createPortico({ config, transport, log() {}, basePath })
  ends.push(() => made.close())
  return made
}

/** Where `Location` of a start leads, and to what. */
async function followStart(url: string) {
  const { call } = makeApi({ url })
  const start = await call('POST', '/api/workflow/start', { workflowName: 'neverEnds', input: null })
  const location = start.headers.get('Location') ?? ''
  const result = await call('GET', location)
  await call('POST', `/api/workflow/${start.body.workflowId}/terminate`)
  return { location: location.replace(start.body.workflowId, ':id'), error: result.body.error }
}

const FOUND = { location: '/api/workflow/:id/result', error: 'WorkflowNotCompletedError' }

test('mounted: a Hono app, which strips the path, can mount the service', async () => {
  const app = new Hono()
  app.mount('/api', portico('/api').fetch)

  expect(await followStart(await listenHono(app))).toEqual(FOUND)
})

test('mounted: a Node server that strips the path like Express can mount the service', async () => {
  const listener = getRequestListener(portico('/api').fetch)

  const url = await listen((request, response) => {
    // What app.use('/api', listener) of Express does.
    request.url = request.url?.replace(/^\/api/, '') || '/'
    void listener(request, response)
  })

  expect(await followStart(url)).toEqual(FOUND)
})

test('mounted: a server that does not strip the path can mount the service', async () => {
  expect(await followStart(await listen(getRequestListener(portico('/api/').fetch)))).toEqual(FOUND)
})

test('mounted: an invalid base path is rejected', () => {
  expect(() => portico('api')).toThrow(TypeError)
  expect(() => portico('/a/../b')).toThrow('basePath must be a path like /portico')
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(async () => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function listenHono(app: Hono): Promise<string> {
  return new Promise((resolve) => {
    const server = serveHono({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    )
    ends.push(async () => server.close())
  })
}
