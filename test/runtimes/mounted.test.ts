/** The service, mounted at a path of another server. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, serve as serveHono } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, onTestFinished } from 'vitest'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { createPortico } from '../../src/service/portico.ts'
import { parseConfig } from '../../src/shared/config.ts'
import { makeApi } from '../support/api.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

let address: string
let catalog: string

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

test.beforeAll(({ engine, catalog: ownCatalog, worker: _ }) => {
  address = engine.address
  catalog = ownCatalog
})

function portico(basePath: string) {
  const config = parseConfig({ SERVICE_CATALOG_ID: catalog, SERVICE_ALLOW_ANONYMOUS: 'true' }, { binds: false })
  const transport = grpcTransport({ address, apiKey: null, tls: null })
  const service = createPortico({ config, transport, log() {}, basePath })
  onTestFinished(() => service.close())
  return service
}

/** Starts a workflow, follows the `Location` header, and returns the path and the response's error. */
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
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function listenHono(app: Hono): Promise<string> {
  return new Promise((resolve) => {
    const server = serveHono({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    )
    onTestFinished(() => void server.close())
  })
}
