/** A Temporal worker inside the test's process. */
import { fileURLToPath } from 'node:url'
import {
  bundleWorkflowCode,
  DefaultLogger,
  IllegalStateError,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker'
import { until } from '../../dev/servers/until.ts'
import type { CatalogDefinition } from '../../src/protocol/catalog.ts'
import { porticoPlugin } from '../../src/worker/plugin.ts'
import * as activities from './activities.ts'

export interface TestWorker {
  taskQueue: string
  /** Ends the worker without waiting for what it has in hand; safe to call twice. */
  stop(): Promise<void>
}

export interface TestWorkerOptions {
  /** Of the engine, `host:port`. */
  address: string
  /** One a test file. */
  taskQueue: string
  /** `test/support/workflows.ts` unless given. */
  workflowsPath?: URL
  /** Those of `test/support/activities.ts` unless given. */
  activities?: object
  /** Published when given; without, the worker is plain Temporal. */
  catalog?: CatalogDefinition
  namespace?: string
  /** Whatever else the worker should have. */
  options?: Omit<
    Partial<WorkerOptions>,
    'taskQueue' | 'connection' | 'namespace' | 'workflowsPath' | 'activities' | 'workflowBundle'
  >
}

const QUIET = new DefaultLogger('ERROR', () => {})
const TEST_WORKFLOWS = new URL('./workflows.ts', import.meta.url)
const bundles = new Map<string, ReturnType<typeof bundleWorkflowCode>>()

/** Resolves when the worker asks for tasks, as the engine sees it, and its catalog, if any, is published. */
export async function startWorker({
  address,
  taskQueue,
  namespace = 'default',
  ...rest
}: TestWorkerOptions): Promise<TestWorker> {
  quietRuntime()
  const workflowBundle = await bundle(
    rest.workflowsPath ?? TEST_WORKFLOWS,
    rest.options?.dataConverter?.payloadConverterPath,
  )
  const connection = await NativeConnection.connect({ address })
  const published = Promise.withResolvers<void>()
  const worker = await Worker.create({
    shutdownGraceTime: 0,
    shutdownForceTime: '5s',
    ...rest.options,
    connection,
    namespace,
    taskQueue,
    workflowBundle,
    activities: rest.activities ?? activities,
    plugins: [
      ...(rest.catalog ? [porticoPlugin({ catalog: rest.catalog, onReady: () => published.resolve() })] : []),
      ...(rest.options?.plugins ?? []),
    ],
  })
  const running = worker.run()
  running.catch(() => {}) // told by stop()
  const stop = once(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown()
    await running.finally(() => connection.close())
  })
  try {
    const ready = Promise.all([untilPolled(connection, namespace, taskQueue), rest.catalog && published.promise])
    await Promise.race([running.then(refuseEarlyEnd), ready])
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
  return { taskQueue, stop }
}

/** Resolves when the engine has seen a worker ask this queue for tasks. */
export async function untilPolled(
  { workflowService }: Pick<NativeConnection, 'workflowService'>,
  namespace: string,
  taskQueue: string,
  kind: 'workflows' | 'activities' = 'workflows',
): Promise<void> {
  const taskQueueType = kind === 'workflows' ? 1 : 2
  await until(`a worker polls ${taskQueue}`, async () => {
    const { pollers } = await workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType,
    })
    return (pollers?.length ?? 0) > 0
  })
}

/** A bundle takes a second to make: one per file of workflows and payload converter. */
function bundle(workflowsPath: URL, payloadConverterPath = ''): ReturnType<typeof bundleWorkflowCode> {
  const path = fileURLToPath(workflowsPath)
  const key = `${path} ${payloadConverterPath}`
  const converter = payloadConverterPath !== '' && { payloadConverterPath }
  const made = bundles.get(key) ?? bundleWorkflowCode({ workflowsPath: path, logger: QUIET, ...converter })
  bundles.set(key, made)
  return made
}

function refuseEarlyEnd(): never {
  throw new Error('The worker ended before it was ready')
}

/** The SDK's logs would bury the tests' own; its runtime ends with the last connection, and comes anew with the next. */
export function quietRuntime(): void {
  try {
    Runtime.install({ logger: QUIET, shutdownSignals: [] })
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error // there is one, and it is ours
  }
}

function once(end: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined
  return () => {
    ending ??= end()
    return ending
  }
}
