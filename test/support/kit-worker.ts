/** Workers with the kit's plugin, that look at their catalog often, and what they log. */
import { DefaultLogger, type LogEntry, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker'
import { vi } from 'vitest'
import { haveWorkflowBundle } from '../../dev/servers/workflow-bundle.ts'
import { type PorticoPluginOptions, porticoPlugin } from '../../src/worker/plugin.ts'

export interface KitWorkerOptions extends Omit<PorticoPluginOptions, 'onReady'> {
  address: string
  taskQueue: string
  /** With Worker Versioning. */
  version?: { deploymentName: string; buildId: string }
  checkEveryMs?: number
  /** Called between the making of the worker and its start. */
  beforeRun?: () => void
}

export interface KitWorker {
  worker: Worker
  /** Settles when the worker has ended. */
  running: Promise<void>
  /** Resolves when it may poll; rejects when it ended before. */
  ready: Promise<void>
  /** How often it has looked at its catalog. */
  looks(): number
  stop(): Promise<void>
}

const WORKFLOWS = new URL('./workflows.ts', import.meta.url)

export async function runKitWorker(given: KitWorkerOptions): Promise<KitWorker> {
  const { address, taskQueue, version, checkEveryMs = 100, beforeRun, ...options } = given
  const connection = await NativeConnection.connect({ address })
  const looks = vi.spyOn(connection.workflowService, 'describeWorkflowExecution')
  const isReady = Promise.withResolvers<void>()
  const plugin = porticoPlugin({ ...options, onReady: () => isReady.resolve() }, { checkEveryMs })
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await haveWorkflowBundle(WORKFLOWS),
    shutdownGraceTime: 0,
    ...(version && { workerDeploymentOptions: versioned(version) }),
    plugins: [plugin],
  })
  beforeRun?.()
  const running = worker.run().finally(() => connection.close())
  running.then(
    () => isReady.reject(new Error('The worker ended before it was ready')),
    (error) => isReady.reject(error),
  )
  isReady.promise.catch(() => {}) // told to those who wait for it
  return {
    worker,
    running,
    ready: isReady.promise,
    looks: () => looks.mock.calls.length,
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

/** To be called before anything else of the SDK: what workers log from then on, as long as a connection is open. */
export function recordLog(): LogEntry[] {
  const entries: LogEntry[] = []
  Runtime.install({ logger: new DefaultLogger('INFO', (entry) => entries.push(entry)), shutdownSignals: [] })
  return entries
}
