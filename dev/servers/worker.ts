/** A Temporal worker in this process. */
import {
  DefaultLogger,
  IllegalStateError,
  type LogEntry,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker'
import { until } from '../../src/cli/dev/servers/until.ts'
import { TaskQueueType } from '../../src/shared/temporal/enums.ts'
import type { CatalogDefinition } from '../../src/shared/wire/catalog.ts'
import { porticoPlugin } from '../../src/worker/plugin.ts'
import { ensureWorkflowBundle } from './workflow-bundle.ts'

export interface RunningWorker {
  taskQueue: string
  /** Stops the worker without waiting for its open tasks. Safe to call twice. */
  stop(): Promise<void>
}

export interface RunWorkerOptions {
  /** `host:port` of the engine. */
  address: string
  taskQueue: string
  workflowsPath: URL
  activities?: object
  /** Published if set; otherwise the worker is plain Temporal. */
  catalog?: CatalogDefinition
  namespace?: string
  /** Any other options of the worker. */
  options?: Omit<
    Partial<WorkerOptions>,
    'taskQueue' | 'connection' | 'namespace' | 'workflowsPath' | 'activities' | 'workflowBundle'
  >
}

export type WorkerLogListener = (entry: LogEntry) => void

const logListeners = new Set<WorkerLogListener>()

const QUIET = new DefaultLogger('INFO', (entry) => {
  for (const listen of logListeners) listen(entry)
})

/** Calls `listen` with all that the workers of this process log from now on, until the returned function is called. */
export function listenToWorkerLog(listen: WorkerLogListener): () => void {
  logListeners.add(listen)
  return () => void logListeners.delete(listen)
}

/** Resolves when the engine reports a poller of the task queue, and the catalog, if any, is published. */
export async function startWorker({
  address,
  taskQueue,
  namespace = 'default',
  ...rest
}: RunWorkerOptions): Promise<RunningWorker> {
  quietRuntime()
  const workflowBundle = await ensureWorkflowBundle(
    rest.workflowsPath,
    rest.options?.dataConverter?.payloadConverterPath,
  )
  const connection = await NativeConnection.connect({ address })
  const published = Promise.withResolvers<void>()
  const worker = await Worker.create({
    shutdownGraceTime: 0,
    // A busy machine takes seconds. A worker that is forced keeps the connection.
    shutdownForceTime: '20s',
    ...rest.options,
    connection,
    namespace,
    taskQueue,
    workflowBundle,
    ...(rest.activities && { activities: rest.activities }),
    plugins: [
      ...(rest.catalog ? [porticoPlugin({ catalog: rest.catalog, onReady: () => published.resolve() })] : []),
      ...(rest.options?.plugins ?? []),
    ],
  })
  if (rest.options?.debugMode) removeTimeLimit(worker)
  const running = worker.run()
  running.catch(() => {}) // stop() rejects with it
  const stop = once(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown()
    await running.finally(() => connection.close())
  })
  try {
    const ready = Promise.all([untilPolled(connection, namespace, taskQueue), rest.catalog && published.promise])
    await Promise.race([running.then(throwExited), ready])
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
  return { taskQueue, stop }
}

/** Resolves when the engine reports a poller of this task queue. */
export async function untilPolled(
  connection: Pick<NativeConnection, 'workflowService'>,
  namespace: string,
  taskQueue: string,
  kind: 'workflows' | 'activities' = 'workflows',
): Promise<void> {
  await until(`a worker polls ${taskQueue}`, () => isPolled(connection, namespace, taskQueue, kind))
}

export async function isPolled(
  { workflowService }: Pick<NativeConnection, 'workflowService'>,
  namespace: string,
  taskQueue: string,
  kind: 'workflows' | 'activities' = 'workflows',
): Promise<boolean> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: kind === 'workflows' ? TaskQueueType.WORKFLOW : TaskQueueType.ACTIVITY,
  })
  return (pollers?.length ?? 0) > 0
}

/**
 * Removes the time limit of workflow code from a worker in debug mode, in which it is 49 days. Node starts a thread for
 * each call with a limit, and a workflow task is several calls: that took most of the time of a worker in a busy
 * process.
 */
export function removeTimeLimit(worker: Worker): void {
  Reflect.set(Reflect.get(worker, 'workflowCreator'), 'isolateExecutionTimeoutMs', undefined)
}

function throwExited(): never {
  throw new Error('The worker exited before it was ready')
}

/**
 * Silences the SDK's log, except for listeners. The SDK creates a new runtime after its last connection was closed,
 * so call this before each worker.
 */
export function quietRuntime(): void {
  try {
    Runtime.install({ logger: QUIET, shutdownSignals: [] })
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error // already installed by an earlier call
  }
}

function once(end: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined
  return () => {
    ending ??= end()
    return ending
  }
}
