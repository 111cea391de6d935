/** A worker in Python without a catalog, like a worker of any Temporal SDK. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Connection } from '@temporalio/client'
import { untilPolled } from '../../dev/servers/worker.ts'
import { type Component, ensureComponent, outputOf } from '../../src/cli/dev/servers/component.ts'
import { startProcess } from '../../src/cli/dev/servers/process.ts'
import type { TestWorker } from './worker.ts'

// Pinned with what it needs, so that tomorrow's run is today's.
const PACKAGES = [
  'temporalio==1.35.0',
  'nexus-rpc==1.4.0',
  'protobuf==7.36.2',
  'types-protobuf==7.35.1.20260906',
  'typing-extensions==4.16.0',
  'pydantic==2.14.3',
  'pydantic-core==2.50.4',
  'annotated-types==0.8.0',
  'typing-inspection==0.4.5',
  'opentelemetry-api==1.45.2',
  'opentelemetry-sdk==1.45.2',
  'opentelemetry-semantic-conventions==0.66b2',
]

const SCRIPT = fileURLToPath(new URL('./python_worker.py', import.meta.url))

const pythonSdk: Component = {
  name: "Temporal's Python SDK",
  version: '1.35.0',
  pins: PACKAGES,
  program: 'temporalio/__init__.py',
  sources: [
    {
      name: 'pip, temporalio',
      stallTimeoutMs: 60_000,
      fetch: async (folder, signal) => {
        const args = [
          '-m',
          'pip',
          'install',
          '--no-deps',
          '--only-binary=:all:',
          '--no-input',
          // The tests import a tenth of it.
          '--no-compile',
          '--progress-bar=off',
          '--target',
          folder,
        ]
        // A user's own settings for pip must not redirect it.
        const env = { ...process.env, PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1' }
        await outputOf({ command: 'python3', args: [...args, ...PACKAGES], env }, signal)
      },
    },
  ],
  check: async (module) => {
    await outputOf({ command: 'python3', args: ['-c', 'import temporalio.worker'], env: pythonEnvironment(module) })
  },
  advice: 'Install Python 3.10 or newer with pip.',
}

export interface PythonWorkerOptions {
  /** Of the engine, `host:port`. */
  address: string
  taskQueue: string
  namespace?: string
  /** `python_worker.py` unless given; takes the same arguments. */
  script?: string
}

/** Once for all workers of this process: two that start at the same time would both download it. */
let ensured: Promise<string> | undefined

/** Runs a worker's script; resolves when it asks for tasks. Rejects, never skips, when there is no Python or no SDK. */
export async function startPythonWorker(options: PythonWorkerOptions): Promise<TestWorker> {
  const { address, taskQueue, namespace = 'default', script = SCRIPT } = options
  ensured ??= ensureComponent(pythonSdk)
  const module = await ensured
  const worker = await startProcess({
    command: 'python3',
    args: [script, address, namespace, taskQueue],
    env: pythonEnvironment(module),
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

function pythonEnvironment(module: string): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: dirname(dirname(module)), PYTHONDONTWRITEBYTECODE: '1' }
}
