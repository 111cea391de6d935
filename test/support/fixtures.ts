/**
 * Vitest fixtures. Each one starts when the first test that names it runs, is shared by the tests of its file, and is
 * stopped after the last one, whatever happened:
 * test files need no `beforeAll`, no `afterAll` and no list of things to stop.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { inject, vi, test as vitestTest } from 'vitest'
import { startChromium } from '../../dev/servers/chromium.ts'
import {
  type EngineAddresses,
  type EngineServerOptions,
  type RunningEngine,
  startEngine,
} from '../../dev/servers/engine.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { startRclone, startWeed } from '../../dev/servers/s3.ts'
import { quietRuntime } from '../../dev/servers/worker.ts'
import { createKvStore } from '../../src/shared/stores/kv/kv-store.ts'
import { type PorticoPluginOptions, porticoPlugin } from '../../src/worker/plugin.ts'
import { type Api, makeApi } from './api.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { watchPolls } from './invariants.ts'
import { readiness } from './readiness.ts'
import { startS3Proxy } from './s3-proxy.ts'
import { type Served, serve } from './serve.ts'
import { startService } from './service.ts'
import { UNDISTURBED } from './undisturbed.ts'
import { startUpstash } from './upstash.ts'
import { startWorker, type TestWorkerOptions } from './worker.ts'

/** A service inside the test's process. */
export interface InProcessService extends Api, Served {}

export interface TracedWorkerOptions extends Partial<Omit<TestWorkerOptions, 'catalog'>> {
  plugin: PorticoPluginOptions
  archiveEveryMs?: number
}

const base = vitestTest
  /** Runs what is deferred to it after the last test of the file, last in first out, even if one of them fails. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern
  .extend('cleanup', { scope: 'file' }, async ({}, { onCleanup }) => {
    const stack = new AsyncDisposableStack()
    onCleanup(() => stack.disposeAsync())
    return stack
  })
  /** The engine that all test files share. Replaced by `testWithOwnEngine`. */
  .extend('engine', { scope: 'file' }, (): EngineAddresses => inject('engine'))
  /** A catalog id, and so a task queue, that no other test file uses. */
  .extend('catalog', { scope: 'file' }, () => `catalog-${crypto.randomUUID()}`)
  /** An empty folder. */
  .extend('folder', { scope: 'file' }, async ({ cleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-test-'))
    cleanup.defer(() => rm(folder, { recursive: true, force: true }))
    return folder
  })
  /** Sets environment variables of this process until the test ends; undefined removes one. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern
  .extend('setEnv', ({}, { onCleanup }) => {
    onCleanup(() => void vi.unstubAllEnvs())
    return (variables: Record<string, string | undefined>): void => {
      for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    }
  })

/**
 * For tests that share the engine of the whole run. A file that needs other options extends it: `test.override` would
 * also change the tests of other files, which share this module.
 */
export const test = withServers(base)

/** For tests that kill, freeze or limit it: an engine of their own. */
export function testWithOwnEngine(options: EngineServerOptions = {}) {
  return test.extend('engine', { scope: 'file' }, async ({ cleanup }): Promise<RunningEngine> => {
    const engine = await startEngine({ ...options, dynamicConfig: { ...UNDISTURBED, ...options.dynamicConfig } })
    cleanup.defer(() => engine.kill())
    return engine
  })
}

function withServers(testOnEngine: typeof base) {
  return (
    testOnEngine
      /** A connection of Temporal's own client to the engine, past the service. */
      .extend('connection', { scope: 'file' }, async ({ engine, cleanup }) => {
        const connection = await Connection.connect({ address: engine.address })
        cleanup.defer(() => connection.close())
        return connection
      })
      .extend('client', { scope: 'file' }, ({ connection }) => new Client({ connection }))

      /** What `worker` is given besides its task queue. */
      .extend('workerOptions', { scope: 'file' }, (): Omit<TestWorkerOptions, 'address' | 'taskQueue'> => ({}))
      /** Starts more workers; without a `taskQueue` on the one of `catalog`. */
      .extend('startWorker', { scope: 'file' }, ({ engine, catalog, cleanup }) => {
        return async (options: Partial<TestWorkerOptions> = {}) => {
          const worker = await startWorker({ address: engine.address, taskQueue: catalog, ...options })
          cleanup.defer(() => worker.stop())
          return worker
        }
      })
      /** A worker on the task queue of `catalog`, without a catalog of the kit unless `workerOptions` names one. */
      .extend('worker', { scope: 'file' }, ({ startWorker, workerOptions }) => startWorker(workerOptions))

      /**
       * Starts workers that record traces, by default in `folder`,
       * and archive every 200 ms instead of every five seconds.
       */
      .extend('startTracedWorker', { scope: 'file' }, ({ startWorker, folder }) => {
        return ({ plugin, archiveEveryMs = 200, options, ...rest }: TracedWorkerOptions) => {
          const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
          const tracing = porticoPlugin({ traces, ...plugin }, { archiveEveryMs })
          return startWorker({ ...rest, options: { ...options, plugins: [tracing] } })
        }
      })
      /** A connection of the worker SDK to the engine. */
      .extend('nativeConnection', { scope: 'file' }, async ({ engine, cleanup }) => {
        quietRuntime()
        const connection = await NativeConnection.connect({ address: engine.address })
        // Closing fails while a worker holds the connection.
        cleanup.defer(() => connection.close())
        return connection
      })

      /** What the services below are given besides engine and catalog. */
      .extend('serviceEnv', { scope: 'file' }, (): Record<string, string> => ({}))
      /** Starts more services inside the test's process. */
      .extend('serve', { scope: 'file' }, ({ engine, catalog, cleanup }) => {
        return (env: Record<string, string> = {}, behind?: 'disturbed'): InProcessService => {
          const served = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: catalog, ...env })
          cleanup.defer(() => served.close())
          return { ...served, ...makeApi({ ...served, ...(behind && { engine: behind }) }) }
        }
      })
      /** The service inside the test's process, with `worker` behind it. */
      .extend('service', { scope: 'file' }, async ({ serve, serviceEnv, worker: _ }) => {
        const service = serve(serviceEnv)
        // The first call connects. On a busy machine that alone takes most of the 4.5 s of a request.
        await readiness(service)
        return service
      })

      /** Starts more services as processes of their own. */
      .extend('startService', { scope: 'file' }, ({ engine, catalog, cleanup }) => {
        return async (options: Partial<Parameters<typeof startService>[0]> = {}) => {
          const service = await startService({ address: engine.address, catalog, ...options })
          cleanup.defer(async () => void (await service.kill()))
          return service
        }
      })
      /** The service as a process of its own, as `npm start` runs it, with `worker` behind it. */
      .extend('serviceProcess', { scope: 'file' }, ({ startService, serviceEnv, worker: _ }) => {
        return startService({ env: serviceEnv })
      })

      /** A proxy in front of the engine that passes everything on, except what a test tells it to fail. */
      .extend('faultProxy', { scope: 'file' }, async ({ engine, cleanup }) => {
        const proxy = await startFaultProxy(engine.address, engine.httpUrl)
        watchPolls(proxy)
        cleanup.defer(() => proxy.stop())
        return proxy
      })
      /** Like `service`, but its engine is behind `faultProxy`. */
      .extend('serviceBehindFaultProxy', { scope: 'file' }, ({ serve, serviceEnv, faultProxy, worker: _ }) => {
        return serve({ ENGINE_ADDRESS: faultProxy.address, ...serviceEnv }, 'disturbed')
      })

      /** A headless Chromium. Each `newPage` has storage and cookies of its own. */
      .extend('browser', { scope: 'file' }, async ({ cleanup }) => {
        const browser = await startChromium()
        cleanup.defer(() => browser.close())
        return browser
      })
      .extend('redis', { scope: 'file' }, async ({ cleanup }) => {
        const redis = await startRedis()
        cleanup.defer(() => redis.kill())
        return redis
      })
      /** rclone, with one bucket. */
      .extend('s3', { scope: 'file' }, async ({ cleanup }) => {
        const s3 = await startRclone()
        cleanup.defer(() => s3.stop())
        return s3
      })
      /** SeaweedFS, with one bucket. Unlike rclone it supports conditional writes. */
      .extend('seaweed', { scope: 'file' }, async ({ cleanup }) => {
        const s3 = await startWeed()
        cleanup.defer(() => s3.stop())
        return s3
      })
      /** A proxy in front of `seaweed` that passes everything on, except what a test tells it to fail. */
      .extend('s3Proxy', { scope: 'file' }, async ({ seaweed, cleanup }) => {
        const proxy = await startS3Proxy(seaweed.endpoint)
        cleanup.defer(() => proxy.close())
        return proxy
      })
      /** Upstash's REST protocol in front of `redis`. */
      .extend('upstash', { scope: 'file' }, async ({ redis, cleanup }) => {
        const upstash = await startUpstash(redis.url)
        cleanup.defer(() => upstash.close())
        return upstash
      })
      /** Our own client of `redis`. */
      .extend('kvStore', { scope: 'file' }, ({ redis, cleanup }) => {
        const kvStore = createKvStore({ url: redis.url, token: null })
        cleanup.defer(() => kvStore.close())
        return kvStore
      })
  )
}
