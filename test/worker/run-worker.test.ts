import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createSecureServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { NativeConnection, type Worker, type WorkerPlugin } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { type RunningProcess, startProcess } from '../../dev/servers/process.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../dev/servers/until.ts'
import { quietRuntime } from '../../dev/servers/worker.ts'
import { defineCatalog, runWorker } from '../../src/worker/index.ts'
import * as activities from '../support/activities.ts'
import { makeCertificates } from '../support/certificates.ts'

const WORKER = fileURLToPath(new URL('./fixtures/worker.ts', import.meta.url))

let connection: Connection
let client: Client
let folder: string
const started: RunningProcess[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-worker-'))
  connection = await Connection.connect({ address: inject('engine').address })
  client = new Client({ connection })
})

beforeEach(() => {
  quietRuntime()
  vi.stubEnv('ENGINE_ADDRESS', undefined)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(started.splice(0).map((process) => process.kill()))
})

afterAll(async () => {
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('runWorker: on SIGTERM the step in hand ends, then the process ends by itself with 0', async () => {
  const taskQueue = aCatalog()
  const worker = await readyWorker(taskQueue)
  const handle = await client.workflow.start('longStep', { workflowId: taskQueue, taskQueue, args: [{ ms: 1500 }] })
  await until('the step is in hand', async () => (await handle.describe()).raw.pendingActivities?.[0]?.state === 2)

  const { code } = await worker.stop(20_000)

  expect(code).toBe(0)
  expect(worker.output()).toContain('nothing left to do')
  const { events } = await handle.fetchHistory()
  expect(events?.some((event) => event.activityTaskCompletedEventAttributes)).toBe(true)
  await handle.terminate()
})

test('runWorker: says which catalog is ready, where, and how many workflows it has; ends at once on SIGINT', async () => {
  const taskQueue = aCatalog()
  const worker = await readyWorker(taskQueue)

  process.kill(worker.pid, 'SIGINT')

  expect(await worker.ended).toEqual({ code: 0, signal: null })
  const said = worker.output()
  const ready = said.slice(said.indexOf('Worker ready'))
  expect(ready).toContain(`catalog: '${taskQueue}'`)
  expect(ready).toContain('workflows: 2')
  expect(ready).toContain("namespace: 'default'")
  expect(ready).toContain(`address: '${inject('engine').address}'`)
})

test('runWorker: says everything that is wrong with its environment at once, and never a secret', async () => {
  const env = {
    SERVICE_CATALOG_ID: '',
    ENGINE_MAX_CACHED_WORKFLOWS: 'many',
    ENGINE_TLS_CERT: '/cert.pem',
    ENGINE_API_KEY: 'not a key',
  }

  const worker = await start(env)

  expect((await worker.ended).code).toBe(1)
  expect(worker.output()).toContain('SERVICE_CATALOG_ID is required')
  expect(worker.output()).toContain('ENGINE_MAX_CACHED_WORKFLOWS must be')
  expect(worker.output()).toContain('ENGINE_TLS_CERT and ENGINE_TLS_KEY are needed together')
  expect(worker.output()).toContain('ENGINE_API_KEY must be')
  expect(worker.output()).not.toContain('not a key')
})

test('runWorker: what is wrong with its environment is all that is printed, no stack and no line of code', async () => {
  const worker = await start({
    SERVICE_CATALOG_ID: '',
    SERVICE_CATALOGID: 'orders',
    ENGINE_MAX_CACHED_WORKFLOWS: 'many',
  })

  expect((await worker.ended).code).toBe(1)
  expect(worker.output().trim().split('\n')).toEqual([
    'The configuration has 3 faults:',
    '  SERVICE_CATALOG_ID is required: the catalog (task queue) that this worker serves',
    '  ENGINE_MAX_CACHED_WORKFLOWS must be an integer of at least 0',
    '  SERVICE_CATALOGID is not a Portico variable and has no effect; did you mean SERVICE_CATALOG_ID?',
  ])
})

test('runWorker: a rejection that is handled is the caller’s alone, and nobody listens for it any more', async () => {
  const kit = new URL('../../src/worker/index.ts', import.meta.url)
  const program = `
    import { defineCatalog, runWorker } from '${kit}'
    await runWorker({ catalog: defineCatalog({ echo: {} }) }).catch((error) => console.log('handled', error.name))
    setImmediate(() => console.log('listening', process.listenerCount('uncaughtException')))`
  const env = { PATH: process.env.PATH, SERVICE_CATALOG_ID: '' }
  const worker = await startProcess({
    command: process.execPath,
    args: ['--input-type=module', '--eval', program],
    env,
  })
  started.push(worker)

  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect(worker.output().trim().split('\n')).toEqual(['handled ConfigError', 'listening 0'])
})

test('runWorker: says where it found no engine', async () => {
  const worker = await start({ SERVICE_CATALOG_ID: 'any', ENGINE_ADDRESS: '127.0.0.1:1' })

  expect((await worker.ended).code).toBe(1)
  expect(worker.output()).toContain('Could not connect to the engine at 127.0.0.1:1')
  expect(worker.output()).not.toMatch(/^ {4}at |node:internal/m)
})

test("runWorker: what the code says wins over the environment, and a connection of the user's stays open", async () => {
  const taskQueue = aCatalog()
  const own = await NativeConnection.connect({ address: inject('engine').address })
  vi.stubEnv('ENGINE_NAMESPACE', 'nowhere')
  vi.stubEnv('ENGINE_MAX_CACHED_WORKFLOWS', '50')
  const seen: object[] = []

  await runWorker({
    ...IDLE,
    connection: own,
    taskQueue,
    namespace: 'default',
    plugins: [endOncePublished((worker) => seen.push(worker.options))],
    shutdownGraceTime: 0,
  })

  expect(seen).toMatchObject([{ taskQueue, namespace: 'default', shutdownGraceTimeMs: 0, maxCachedWorkflows: 50 }])
  expect(await isPublished(own, taskQueue)).toBe(true)
  await own.close()
})

test('runWorker: closes the connection that it has opened', async () => {
  const proxy = await startTcpProxy(inject('engine').address)
  vi.stubEnv('SERVICE_CATALOG_ID', aCatalog())
  vi.stubEnv('ENGINE_ADDRESS', proxy.address)
  const open: number[] = []

  await runWorker({ ...IDLE, plugins: [endOncePublished(() => open.push(proxy.open()))] })

  expect(open[0]).toBeGreaterThan(0)
  await until('the connection is closed', () => proxy.open() === 0)
  await proxy.close()
})

test('runWorker: speaks TLS, and shows its certificate to an engine that asks for one', async () => {
  const { authority, server, client: own } = await makeCertificates()
  const tls = { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] }
  const proxy = await startTcpProxy(inject('engine').address, { tls })
  const taskQueue = aCatalog()
  vi.stubEnv('SERVICE_CATALOG_ID', taskQueue)
  vi.stubEnv('ENGINE_ADDRESS', proxy.address)
  vi.stubEnv('ENGINE_TLS_SERVER_NAME', 'localhost')
  vi.stubEnv('ENGINE_TLS_CA', await file('ca.pem', authority.cert))
  await expect(runWorker({ ...IDLE, plugins: [endOncePublished()] })).rejects.toThrow(
    `Could not connect to the engine at ${proxy.address}`,
  )
  vi.stubEnv('ENGINE_TLS_CERT', await file('cert.pem', own.cert))
  vi.stubEnv('ENGINE_TLS_KEY', await file('key.pem', own.key))

  await runWorker({ ...IDLE, plugins: [endOncePublished()] })

  expect(await isPublished(connection, taskQueue)).toBe(true)
  await proxy.close()
})

test('runWorker: sends its API key', async () => {
  const { authority, server } = await makeCertificates()
  const keys = new Set<string | undefined>()
  const engine = createSecureServer(server, (request, response) => {
    keys.add(request.headers.authorization)
    response.stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' },
      { endStream: true },
    )
  }).listen(0, '127.0.0.1')
  await once(engine, 'listening')
  const address = engine.address()
  vi.stubEnv('SERVICE_CATALOG_ID', aCatalog())
  vi.stubEnv('ENGINE_ADDRESS', `127.0.0.1:${typeof address === 'object' && address?.port}`)
  vi.stubEnv('ENGINE_API_KEY', 'a-key')
  vi.stubEnv('ENGINE_TLS_SERVER_NAME', 'localhost')
  vi.stubEnv('ENGINE_TLS_CA', await file('key-ca.pem', authority.cert))

  await expect(runWorker({ ...IDLE, plugins: [endOncePublished()] })).rejects.toThrow('Could not connect to the engine')

  expect([...keys]).toEqual(['Bearer a-key'])
  engine.close()
})

// Activities alone: nothing to bundle.
const IDLE = { catalog: defineCatalog({ echo: {} }), activities }

function endOncePublished(look: (worker: Worker) => void = () => {}): WorkerPlugin {
  return {
    name: 'test',
    async runWorker(worker, next) {
      look(worker)
      const running = next(worker)
      const { connection, options } = worker
      if (connection) await until('its catalog is published', () => isPublished(connection, options.taskQueue))
      worker.shutdown()
      await running
    },
  }
}

async function isPublished(
  { workflowService }: Pick<Connection, 'workflowService'>,
  catalog: string,
): Promise<boolean> {
  const execution = { workflowId: `$catalog:${catalog}` }
  const { workflowExecutionInfo: run } = await workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution,
  })
  return run?.status === 1
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

function aCatalog(): string {
  return `run-worker-${crypto.randomUUID()}`
}

async function readyWorker(taskQueue: string): Promise<RunningProcess> {
  const worker = await start({ SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: inject('engine').address })
  await until('the worker is ready', () => worker.output().includes('Worker ready'), { timeoutMs: 20_000 })
  return worker
}

async function start(env: Record<string, string>): Promise<RunningProcess> {
  const worker = await startProcess({ command: process.execPath, args: [WORKER], env: { ...process.env, ...env } })
  started.push(worker)
  return worker
}
