/** A worker in Python without a catalog, like a worker of any Temporal SDK. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Connection } from '@temporalio/client'
import { startProcess } from '../../dev/servers/process.ts'
import { untilPolled } from '../../dev/servers/worker.ts'
import { ensureComponent } from '../../src/cli/dev/servers/component.ts'
import { pythonEnvironment, pythonPackage } from './python-package.ts'
import type { TestWorker } from './worker.ts'

const SCRIPT = fileURLToPath(new URL('./python_worker.py', import.meta.url))

const pythonSdk = pythonPackage({
  name: "Temporal's Python SDK",
  version: '1.35.0',
  project: 'temporalio',
  module: 'temporalio.worker',
  requirements: readFileSync(new URL('./python-worker.requirements.txt', import.meta.url), 'utf8'),
})

export interface PythonWorkerOptions {
  /** Of the engine, `host:port`. */
  address: string
  taskQueue: string
  namespace?: string
  /** Of a codec server, which encodes and decodes all payloads. */
  codecUrl?: string
  /** `python_worker.py` unless given; takes the same arguments. */
  script?: string
}

/** Once for all workers of this process: two that start at the same time would both download it. */
let ensured: Promise<string> | undefined

/** The environment of a script that imports Temporal's SDK or pydantic. */
export async function pythonSdkEnvironment(): Promise<NodeJS.ProcessEnv> {
  ensured ??= ensureComponent(pythonSdk)
  return pythonEnvironment(await ensured)
}

/** Runs a worker's script; resolves when it asks for tasks. Rejects, never skips, when there is no Python or no SDK. */
export async function startPythonWorker(options: PythonWorkerOptions): Promise<TestWorker> {
  const { address, taskQueue, namespace = 'default', codecUrl, script = SCRIPT } = options
  const worker = await startProcess({
    command: 'python3',
    args: [script, address, namespace, taskQueue, ...(codecUrl === undefined ? [] : [codecUrl])],
    env: await pythonSdkEnvironment(),
  })
  const connection = await Connection.connect({ address })
  const failed = worker.ended.then(({ code }) => {
    throw new Error(`The Python worker ended with ${code}:\n${worker.output()}`)
  })
  failed.catch(() => {}) // told by the race, and of no interest after it
  try {
    await Promise.race([failed, untilPolled(connection, namespace, taskQueue)])
  } catch (error) {
    await worker.kill()
    throw error
  } finally {
    await connection.close()
  }
  return {
    taskQueue,
    async stop() {
      await worker.stop(2000)
    },
  }
}
