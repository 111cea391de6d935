/** Memory that callers, and senders without a credential, can make one replica hold. */
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { type ObservedService, startObservedService } from '../../dev/servers/start-observed.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { META } from '../../src/service/fronts/mcp/protocol.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { parseMetrics, sumOf } from '../../test/support/prometheus.ts'
import type * as workflows from '../../test/support/workflows.ts'

const MEBIBYTE = 1024 * 1024
const TOKEN = 'operator-of-this-test'

const WORKFLOWS = 300

const test = testWithOwnEngine({}).extend('workerOptions', { scope: 'file' }, () => ({
  catalog: defineCatalog<typeof workflows>({ echo: {}, bigOutput: {} }),
}))

interface Observed {
  service: ObservedService
  api: Api
  /** How much more memory the service has used than when it started. */
  grownMebibytes(): Promise<number>
}

async function observe(engine: string, catalog: string, env: Record<string, string>): Promise<Observed> {
  const service = await startObservedService({
    address: engine,
    catalog,
    env: { SERVICE_API_AUTH_TOKEN: TOKEN, SERVICE_CATALOG_TTL: '1h', SERVICE_METRICS_ON: 'true', ...env },
  })
  const api = makeApi({ url: service.url, token: TOKEN })
  await until('the engine can be used', async () => (await api.call('GET', '/ready')).status === 200)
  const before = await service.inventory()
  return {
    service,
    api,
    grownMebibytes: async () => ((await service.inventory()).peakRssBytes - before.rssBytes) / MEBIBYTE,
  }
}

/** A request whose response is never read. */
function sendUnread(url: string, path: string, headers: Record<string, string>, body: string | Buffer): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  // The service may close it.
  socket.on('error', () => {})
  const lines = Object.entries({ Host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  return socket
}

async function metric(api: Api, name: string, labels: Record<string, string> = {}): Promise<number> {
  return sumOf(parseMetrics((await api.call('GET', '/metrics')).text), name, labels)
}

test('clients that subscribe to a hundred large tasks, and never read, hold one value each (threat 57)', async ({
  engine,
  worker,
  cleanup,
}) => {
  const { service, api, grownMebibytes } = await observe(engine.address, worker.taskQueue, {})
  cleanup.defer(service.kill)
  await startFirstRun(api, 'echo')
  const taskIds: string[] = []
  await mapConcurrent(Array.from({ length: 100 }), 4, async () => {
    const { body } = await api.start('bigOutput', { bytes: 1_900_000 })
    await until('it has ended', async () => (await api.get(`${body.workflowId}/status`)).body.status === 'completed')
    taskIds.push(`${body.workflowId}/${body.runId}`)
  })
  const params = {
    notifications: { taskIds },
    _meta: {
      [META.protocolVersion]: '2026-07-28',
      [META.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  }
  const method = 'subscriptions/listen'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
  }
  const described = () =>
    metric(api, 'rpc_client_call_duration_seconds_count', {
      rpc_method: 'DescribeWorkflowExecution',
    })
  const before = await described()
  const sockets = Array.from({ length: 3 }, () => sendUnread(service.url, '/mcp', headers, body))
  await until('all tasks were read', async () => (await described()) - before >= 300, { timeoutMs: 120_000 })

  const grown = await grownMebibytes()
  for (const socket of sockets) socket.destroy()

  console.log(`3 subscriptions to 100 tasks of 1.9 MB: ${Math.round(grown)} MiB`)
  expect(grown).toBeLessThan(350)
  await until('nothing waits', async () => (await metric(api, 'portico_open_waits')) === 0)
})

test('senders without a proof hold no more than the budget for bodies (threat 106)', async ({
  engine,
  worker,
  cleanup,
}) => {
  const hook = { scheme: 'standard', secretEnv: 'SERVICE_HOOK_STD', start: { workflowName: 'echo' } }
  const { service, api, grownMebibytes } = await observe(engine.address, worker.taskQueue, {
    SERVICE_HOOK_STD: `whsec_${Buffer.alloc(32, 'x').toString('base64')}`,
    SERVICE_POLICY: JSON.stringify({ version: 1, rules: [], hooks: { std: hook } }),
  })
  cleanup.defer(service.kill)
  const body = Buffer.alloc(2 * MEBIBYTE - 1, 'x')
  const signed = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  }
  const common = { 'Content-Type': 'application/json', 'Content-Length': String(2 * MEBIBYTE) }
  const sockets: Socket[] = []
  const send = async (headers: Record<string, string>) => {
    const socket = sendUnread(service.url, '/hooks/std', { ...common, ...headers }, body)
    sockets.push(socket)
    await until(
      'it is sent or rejected',
      () => socket.writableLength === 0 || socket.destroyed || socket.readableLength > 0,
    )
  }

  for (let count = 0; count < 150; count++) await Promise.all([send({}), send(signed)])
  const grown = await grownMebibytes()
  for (const socket of sockets) socket.destroy()

  console.log(`300 bodies of 2 MiB without a proof: ${Math.round(grown)} MiB`)
  expect(grown).toBeLessThan(150)
  const afterwards = await until('the budget is free', async () => {
    const answer = await api.call('POST', '/hooks/std', {}, signed)
    return answer.status !== 503 && answer
  })
  expect(afterwards.status).toBe(401)
})

test('access tokens with a thousand different scopes hold one set of tools (threat 57)', async ({
  engine,
  worker,
  startWorker,
  cleanup,
}) => {
  const names = Array.from({ length: WORKFLOWS }, (_, index) => `w${index}`)
  const taskQueue = `many-${crypto.randomUUID()}`
  const properties = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`field${at}`, { type: 'string' }]))
  const entry = { input: { type: 'object', properties }, description: 'x'.repeat(200) }
  await startWorker({ taskQueue, catalog: defineCatalog(Object.fromEntries(names.map((name) => [name, entry]))) })
  const { service, api, grownMebibytes } = await observe(engine.address, worker.taskQueue, {
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 'signing-key').toString('base64url'),
  })
  cleanup.defer(service.kill)
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

  await mapConcurrent(
    Array.from({ length: 900 }, (_, index) => index),
    4,
    async (index) => {
      const scope = { can: ['start'], workflows: ['w*', `x${index}`] }
      const { status, body } = await api.call('POST', '/tokens', scope)
      expect(status, body.message).toBe(201)
      const holder = makeApi({ url: service.url, token: body.token })
      const listed = await holder.call('POST', `/mcp/${taskQueue}`, list)
      expect(listed.body, listed.text).toMatchObject({ result: { tools: expect.any(Array) } })
    },
  )
  const grown = await grownMebibytes()

  console.log(`900 scopes of a catalog with ${WORKFLOWS} workflows: ${Math.round(grown)} MiB`)
  expect(grown).toBeLessThan(150)
})
