import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { NativeConnection, type WorkerPlugin } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { defineCatalog, runWorker } from '../../src/worker/index.ts'
import { type RunningProcess, startProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { quietRuntime } from '../support/worker.ts'

const WORKER = fileURLToPath(new URL('./fixtures/worker.ts', import.meta.url))

let connection: Connection
let client: Client
const started: RunningProcess[] = []

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('engine').address })
  client = new Client({ connection })
})

afterEach(() => Promise.all(started.splice(0).map((process) => process.kill())))
afterAll(() => connection?.close())

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
  const env = { SERVICE_CATALOG_ID: '', ENGINE_MAX_CACHED_WORKFLOWS: 'many', ENGINE_TLS_CERT: '/cert.pem', ENGINE_API_KEY: 'not a key' }

  const worker = await start(env)

  expect((await worker.ended).code).toBe(1)
  expect(worker.output()).toContain('SERVICE_CATALOG_ID is required')
  expect(worker.output()).toContain('ENGINE_MAX_CACHED_WORKFLOWS must be')
  expect(worker.output()).toContain('ENGINE_TLS_CERT and ENGINE_TLS_KEY are needed together')
  expect(worker.output()).toContain('ENGINE_API_KEY must be')
  expect(worker.output()).not.toContain('not a key')
})

test('runWorker: says where it found no engine', async () => {
  const worker = await start({ SERVICE_CATALOG_ID: 'any', ENGINE_ADDRESS: '127.0.0.1:1' })

  expect((await worker.ended).code).toBe(1)
  expect(worker.output()).toContain("The engine at 127.0.0.1:1 can't be reached")
})

test("runWorker: what the code says wins over the environment, and a connection of the user's stays open", async () => {
  quietRuntime()
  const taskQueue = aCatalog()
  const own = await NativeConnection.connect({ address: inject('engine').address })
  const seen: object[] = []
  const endAtOnce: WorkerPlugin = {
    name: 'test',
    async runWorker(worker, next) {
      seen.push(worker.options)
      const running = next(worker)
      worker.shutdown()
      await running
    },
  }

  await runWorker({
    catalog: defineCatalog({ echo: {} }),
    connection: own,
    taskQueue,
    plugins: [endAtOnce],
    identity: 'mine',
    shutdownGraceTime: 0,
    workflowsPath: fileURLToPath(new URL('../support/workflows.ts', import.meta.url)),
  })

  expect(seen).toMatchObject([{ taskQueue, identity: 'mine', namespace: 'default', shutdownGraceTimeMs: 0 }])
  const { workflowExecutionInfo: run } = await own.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${taskQueue}` },
  })
  expect(run?.status).toBe(1)
  await own.close()
})

function aCatalog(): string {
  return `run-worker-${crypto.randomUUID()}`
}

async function readyWorker(taskQueue: string): Promise<RunningProcess> {
  const worker = await start({ SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: inject('engine').address })
  await until('the worker is ready', () => worker.output().includes('Worker ready'), { timeoutMs: 20_000 })
  return worker
}

async function start(env: Record<string, string>): Promise<RunningProcess> {
  const { ENGINE_ADDRESS: _, ...rest } = process.env
  const worker = await startProcess({ command: process.execPath, args: [WORKER], env: { ...rest, ...env } })
  started.push(worker)
  return worker
}
