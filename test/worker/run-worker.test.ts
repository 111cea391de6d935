import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createSecureServer } from 'node:http2'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Worker, WorkerPlugin } from '@temporalio/worker'
import { expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { startTcpProxy, type TcpProxyOptions } from '../../dev/servers/tcp-proxy.ts'
import { quietRuntime } from '../../dev/servers/worker.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog, type RunWorkerOptions, runWorker } from '../../src/worker/index.ts'
import * as activities from '../support/activities.ts'
import { makeCertificates } from '../support/certificates.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { isPublished } from '../support/is-published.ts'

const WORKER = fileURLToPath(new URL('./fixtures/worker.ts', import.meta.url))

const test = baseTest
  /** Starts programs, which are killed when their test ends. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern
  .extend('startProgram', ({}, { onCleanup }) => {
    const programs: RunningProcess[] = []
    onCleanup(async () => void (await Promise.all(programs.map((program) => program.kill()))))
    return async (args: string[], env: NodeJS.ProcessEnv) => {
      const program = await startProcess({ command: process.execPath, args, env })
      programs.push(program)
      return program
    }
  })
  /** Starts a worker as a process of its own. */
  .extend('startWorkerProcess', ({ startProgram }) => (env: Record<string, string>) => {
    return startProgram([WORKER], { ...process.env, ENGINE_ADDRESS: undefined, ...env })
  })
  /** Resolves when the worker logs that it is ready. */
  .extend('startReadyWorker', ({ engine, startWorkerProcess }) => async (taskQueue: string) => {
    const worker = await startWorkerProcess({ SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: engine.address })
    await until('the worker is ready', () => worker.output().includes('Worker ready'))
    return worker
  })
  /** Calls `runWorker` in this process, with these environment variables and activities alone: nothing to bundle. */
  .extend('run', ({ setEnv }) => async (env: Record<string, string>, options: Partial<RunWorkerOptions>) => {
    quietRuntime()
    setEnv({ ENGINE_ADDRESS: undefined, ...env })
    await runWorker({ catalog: defineCatalog({ echo: {} }), activities, ...options })
  })
  /** Starts proxies in front of the engine. */
  .extend('startProxy', ({ engine, cleanup }) => async (options?: TcpProxyOptions) => {
    const proxy = await startTcpProxy(engine.address, options)
    cleanup.defer(() => proxy.close())
    return proxy
  })
  /** Writes a file and returns its path. */
  .extend('write', ({ folder }) => async (name: string, content: string) => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  })

test('on SIGTERM a running activity completes, then the process exits with code 0', async ({
  client,
  startReadyWorker,
}) => {
  const taskQueue = aCatalog()
  const worker = await startReadyWorker(taskQueue)
  const handle = await client.workflow.start('longStep', { workflowId: taskQueue, taskQueue, args: [{ ms: 1500 }] })
  await until('the activity is running', async () => (await handle.describe()).raw.pendingActivities?.[0]?.state === 2)

  const { code } = await worker.stop(20_000)

  expect(code).toBe(0)
  expect(worker.output()).toContain('nothing left to do')
  const { events } = await handle.fetchHistory()
  expect(events?.some((event) => event.activityTaskCompletedEventAttributes)).toBe(true)
  await handle.terminate()
})

test('a worker logs its catalog, its engine and its number of workflows when it is ready, and stops on SIGINT', async ({
  engine,
  startReadyWorker,
}) => {
  const taskQueue = aCatalog()
  const worker = await startReadyWorker(taskQueue)

  process.kill(worker.pid, 'SIGINT')

  expect(await worker.ended).toEqual({ code: 0, signal: null })
  const output = worker.output()
  const ready = output.slice(output.indexOf('Worker ready'))
  expect(ready).toContain(`catalog: '${taskQueue}'`)
  expect(ready).toContain('workflows: 2')
  expect(ready).toContain("namespace: 'default'")
  expect(ready).toContain(`address: '${engine.address}'`)
})

test('a worker reports all invalid environment variables at once, without a secret (threat 95)', async ({
  startWorkerProcess,
}) => {
  const env = {
    SERVICE_CATALOG_ID: '',
    ENGINE_MAX_CACHED_WORKFLOWS: 'many',
    ENGINE_TLS_CERT: '/cert.pem',
    ENGINE_API_KEY: 'not a key',
  }

  const worker = await startWorkerProcess(env)

  expect((await worker.ended).code).toBe(1)
  expect(worker.output()).toContain('SERVICE_CATALOG_ID is required')
  expect(worker.output()).toContain('ENGINE_MAX_CACHED_WORKFLOWS must be')
  expect(worker.output()).toContain('ENGINE_TLS_CERT and ENGINE_TLS_KEY must be set together')
  expect(worker.output()).toContain('ENGINE_API_KEY must be')
  expect(worker.output()).not.toContain('not a key')
})

test('a worker with an invalid environment prints only the errors, without a stack trace or source code', async ({
  startWorkerProcess,
}) => {
  const worker = await startWorkerProcess({
    SERVICE_CATALOG_ID: '',
    SERVICE_CATALOGID: 'orders',
    ENGINE_MAX_CACHED_WORKFLOWS: 'many',
  })

  expect((await worker.ended).code).toBe(1)
  expect(worker.output().trim().split('\n')).toEqual([
    'The configuration has 3 errors:',
    '  SERVICE_CATALOG_ID is required: the catalog (task queue) that this worker serves',
    '  ENGINE_MAX_CACHED_WORKFLOWS must be an integer of at least 0',
    '  SERVICE_CATALOGID is not a Portico variable and has no effect; did you mean SERVICE_CATALOG_ID?',
  ])
})

test('a rejection of runWorker that the caller handles is not printed and leaves no listener behind', async ({
  startProgram,
}) => {
  const kit = new URL('../../src/worker/index.ts', import.meta.url)
  const program = `
    import { defineCatalog, runWorker } from '${kit}'
    await runWorker({ catalog: defineCatalog({ echo: {} }) }).catch((error) => console.log('handled', error.name))
    setImmediate(() => console.log('listening', process.listenerCount('uncaughtException')))`
  const env = { PATH: process.env.PATH, SERVICE_CATALOG_ID: '' }
  const worker = await startProgram(['--input-type=module', '--eval', program], env)

  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect(worker.output().trim().split('\n')).toEqual(['handled ConfigError', 'listening 0'])
})

test('a worker that cannot connect reports the address of the engine', async ({ startWorkerProcess }) => {
  const worker = await startWorkerProcess({ SERVICE_CATALOG_ID: 'any', ENGINE_ADDRESS: '127.0.0.1:1' })

  expect((await worker.ended).code).toBe(1)
  expect(worker.output()).toContain('Could not connect to the engine at 127.0.0.1:1')
  expect(worker.output()).not.toMatch(/^ {4}at |node:internal/m)
})

test('options of runWorker take precedence over environment variables, and a given connection stays open', async ({
  nativeConnection: connection,
  run,
}) => {
  const taskQueue = aCatalog()
  const seen: object[] = []

  await run(
    { ENGINE_NAMESPACE: 'nowhere', ENGINE_MAX_CACHED_WORKFLOWS: '50' },
    {
      connection,
      taskQueue,
      namespace: 'default',
      plugins: [stopOncePublished((worker) => seen.push(worker.options))],
      shutdownGraceTime: 0,
    },
  )

  expect(seen).toMatchObject([{ taskQueue, namespace: 'default', shutdownGraceTimeMs: 0, maxCachedWorkflows: 50 }])
  expect(await isPublished(connection, taskQueue)).toBe(true)
})

test('runWorker closes the connection that it opened', async ({ run, startProxy }) => {
  const proxy = await startProxy()
  const open: number[] = []

  await run(
    { SERVICE_CATALOG_ID: aCatalog(), ENGINE_ADDRESS: proxy.address },
    { plugins: [stopOncePublished(() => open.push(proxy.open()))] },
  )

  expect(open[0]).toBeGreaterThan(0)
  await until('the connection is closed', () => proxy.open() === 0)
})

test('a worker connects over TLS and sends its client certificate to an engine that requires one', async ({
  connection,
  run,
  startProxy,
  write,
}) => {
  const { authority, server, client: own } = await makeCertificates()
  const tls = { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] }
  const proxy = await startProxy({ tls })
  const taskQueue = aCatalog()
  const env = {
    SERVICE_CATALOG_ID: taskQueue,
    ENGINE_ADDRESS: proxy.address,
    ENGINE_TLS_SERVER_NAME: 'localhost',
    ENGINE_TLS_CA: await write('ca.pem', authority.cert),
  }
  const clientCertificate = {
    ENGINE_TLS_CERT: await write('cert.pem', own.cert),
    ENGINE_TLS_KEY: await write('key.pem', own.key),
  }
  await expect(run(env, { plugins: [stopOncePublished()] })).rejects.toThrow(
    `Could not connect to the engine at ${proxy.address}`,
  )

  await run({ ...env, ...clientCertificate }, { plugins: [stopOncePublished()] })

  expect(await isPublished(connection, taskQueue)).toBe(true)
})

test('a worker warns of each file with certificates that has been replaced, which it uses after a restart (failure 18)', async ({
  startProxy,
  startWorkerProcess,
  write,
}) => {
  const { authority, server, client: own } = await makeCertificates()
  const { client: renewed } = await makeCertificates()
  const proxy = await startProxy({ tls: { ...server, ALPNProtocols: ['h2'] } })
  const path = await write('renewed.pem', own.cert)
  const worker = await startWorkerProcess({
    SERVICE_CATALOG_ID: aCatalog(),
    ENGINE_ADDRESS: proxy.address,
    ENGINE_TLS_SERVER_NAME: 'localhost',
    ENGINE_TLS_CA: await write('authority.pem', authority.cert),
    ENGINE_TLS_CERT: path,
    ENGINE_TLS_KEY: await write('own-key.pem', own.key),
  })
  await until('the worker is ready', () => worker.output().includes('Worker ready'))

  await write('renewed.pem', renewed.cert)

  const untilWarned = (variable: string, path: string) =>
    until('it warns', () =>
      worker.output().includes(`${variable} names a file that has changed (${path}). Restart the worker`),
    )
  await untilWarned('ENGINE_TLS_CERT', path)
  expect(worker.output()).not.toMatch(/ENGINE_TLS_(?:CA|KEY) names/)
  const others = [await write('authority.pem', renewed.cert), await write('own-key.pem', renewed.key)] as const
  await Promise.all([untilWarned('ENGINE_TLS_CA', others[0]), untilWarned('ENGINE_TLS_KEY', others[1])])
})

test('a worker sends its API key', async ({ cleanup, run, write }) => {
  const { authority, server } = await makeCertificates()
  const keys = new Set<string | undefined>()
  const engine = createSecureServer(server, (request, response) => {
    keys.add(request.headers.authorization)
    response.stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' },
      { endStream: true },
    )
  }).listen(0, '127.0.0.1')
  cleanup.defer(() => void engine.close())
  await once(engine, 'listening')
  const address = engine.address()
  const env = {
    SERVICE_CATALOG_ID: aCatalog(),
    ENGINE_ADDRESS: `127.0.0.1:${typeof address === 'object' && address?.port}`,
    ENGINE_API_KEY: 'a-key',
    ENGINE_TLS_SERVER_NAME: 'localhost',
    ENGINE_TLS_CA: await write('key-ca.pem', authority.cert),
  }

  await expect(run(env, { plugins: [stopOncePublished()] })).rejects.toThrow('Could not connect to the engine')

  expect([...keys]).toEqual(['Bearer a-key'])
})

function stopOncePublished(inspect: (worker: Worker) => void = () => {}): WorkerPlugin {
  return {
    name: 'test',
    async runWorker(worker, next) {
      inspect(worker)
      const running = next(worker)
      const { connection, options } = worker
      if (connection) await until('its catalog is published', () => isPublished(connection, options.taskQueue))
      worker.shutdown()
      await running
    },
  }
}

function aCatalog(): string {
  return `run-worker-${crypto.randomUUID()}`
}
