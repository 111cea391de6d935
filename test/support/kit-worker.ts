/** Workers with the plugin that check their catalog often, and their log. */
import { type LogEntry, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { vi } from 'vitest'
import { listenToWorkerLog, quietRuntime, removeTimeLimit } from '../../dev/servers/worker.ts'
import { ensureWorkflowBundle } from '../../dev/servers/workflow-bundle.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type PorticoPluginOptions, porticoPlugin } from '../../src/worker/plugin.ts'
import { test as baseTest } from './fixtures.ts'

export interface KitWorkerOptions extends Omit<PorticoPluginOptions, 'onReady'> {
  address: string
  taskQueue: string
  /** With Worker Versioning. */
  version?: { deploymentName: string; buildId: string }
  checkEveryMs?: number
  publishTimeoutMs?: number
  /** Called after the worker is created and before it runs. */
  beforeRun?: () => void
}

export interface KitWorker {
  worker: Worker
  /** Settles when the worker ends. */
  running: Promise<void>
  /** Resolves when the worker may poll; rejects if it ends before. */
  ready: Promise<void>
  /** How often it has checked its catalog. */
  checks(): number
  /** How often it has started to poll for workflow tasks. */
  polls(): number
  stop(): Promise<void>
}

const WORKFLOWS = new URL('./workflows.ts', import.meta.url)

async function startKitWorker(given: KitWorkerOptions): Promise<KitWorker> {
  const { address, taskQueue, version, checkEveryMs = 100, publishTimeoutMs, beforeRun, ...options } = given
  quietRuntime()
  const connection = await NativeConnection.connect({ address })
  const checks = vi.spyOn(connection.workflowService, 'describeWorkflowExecution')
  const isReady = Promise.withResolvers<void>()
  const plugin = porticoPlugin(
    { ...options, onReady: () => isReady.resolve() },
    { checkEveryMs, ...(publishTimeoutMs && { publishTimeoutMs }) },
  )
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await ensureWorkflowBundle(WORKFLOWS),
    shutdownGraceTime: 0,
    debugMode: true,
    ...(version && { workerDeploymentOptions: versioned(version) }),
    plugins: [plugin],
  })
  removeTimeLimit(worker)
  const polls = vi.spyOn(Reflect.get(worker, 'nativeWorker'), 'pollWorkflowActivation')
  beforeRun?.()
  const running = worker.run().finally(() => connection.close())
  running.then(
    () => isReady.reject(new Error('The worker ended before it was ready')),
    (error) => isReady.reject(error),
  )
  isReady.promise.catch(() => {}) // reported by `ready`
  return {
    worker,
    running,
    ready: isReady.promise,
    checks: () => checks.mock.calls.length,
    polls: () => polls.mock.calls.length,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown()
      await running
    },
  }
}

function versioned(version: {
  deploymentName: string
  buildId: string
}): NonNullable<WorkerOptions['workerDeploymentOptions']> {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' }
}

export const test = baseTest
  /** Everything that the workers of this file log. */
  .extend('log', { scope: 'file' }, ({ cleanup }) => {
    quietRuntime()
    const entries: LogEntry[] = []
    cleanup.defer(listenToWorkerLog((entry) => entries.push(entry)))
    return entries
  })
  /** Starts workers that are stopped when their test ends. */
  .extend('runKitWorker', ({ engine, log: _ }, { onCleanup }) => {
    const workers: KitWorker[] = []
    onCleanup(async () => void (await Promise.allSettled(workers.map((worker) => worker.stop()))))
    return async (options: Omit<KitWorkerOptions, 'address'> & { address?: string }) => {
      const worker = await startKitWorker({ address: engine.address, ...options })
      worker.running.catch(() => {}) // reported by `running`
      workers.push(worker)
      return worker
    }
  })

export async function untilChecked({ checks }: KitWorker, times: number): Promise<void> {
  const before = checks()
  await until(`it has checked its catalog ${times} more times`, () => checks() >= before + times)
}
