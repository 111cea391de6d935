import { fileURLToPath } from 'node:url'
import { startProcess } from '../../dev/servers/process.ts'
import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url))

interface WorkerProcessOptions {
  /** Address of the engine. */
  address: string
  catalog: string
  /** Kills the worker at the end of the file. */
  cleanup: AsyncDisposableStack
}

/** Starts the worker of `worker-process.ts`. Resolves when it is ready. */
export async function startWorkerProcess({ address, catalog, cleanup }: WorkerProcessOptions): Promise<RunningProcess> {
  const worker = await startProcess({
    command: process.execPath,
    args: [WORKER],
    env: {
      PATH: process.env.PATH,
      PORTICO_WORKFLOW_BUNDLES: process.env.PORTICO_WORKFLOW_BUNDLES,
      ENGINE_ADDRESS: address,
      SERVICE_CATALOG_ID: catalog,
    },
  })
  cleanup.defer(async () => void (await worker.kill()))
  await until('the worker is ready', () => worker.output().includes('ready'), {
    signal: exitSignal(worker, 'the worker'),
  })
  return worker
}
