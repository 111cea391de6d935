/** The service as a child process, as `npm start` runs it. */
import { fileURLToPath } from 'node:url'
import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startProcess } from './process.ts'

/** Starts the service on Node. */
export const SERVICE_ENTRY = fileURLToPath(new URL('../../src/service/runtime/node/index.ts', import.meta.url))

/** One line of the service's log. */
export interface LogEvent {
  level: string
  message: string
  [field: string]: unknown
}

export interface ServiceProcess extends Pick<RunningProcess, 'pid' | 'ended' | 'stop' | 'kill'> {
  url: string
  /** The default catalog, which is also the task queue. */
  catalog: string
  /** The log so far. */
  events: readonly LogEvent[]
}

export interface ServiceProcessOptions {
  /** `host:port` of the engine. */
  address: string
  catalog: string
  /** More variables. By default the service has no token and a free port that the system chooses. */
  env?: Record<string, string>
  /** The module that Node runs. Default: that of `npm start`. */
  entry?: string
  /** Options of Node. */
  nodeOptions?: readonly string[]
}

/** Resolves when the service listens. */
export async function startServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { address, catalog, env, entry = SERVICE_ENTRY, nodeOptions = [] } = options
  const events: LogEvent[] = []
  const server = await startProcess({
    command: process.execPath,
    args: [...nodeOptions, entry],
    env: {
      PATH: process.env.PATH,
      SERVICE_PORT: '0',
      SERVICE_CATALOG_ID: catalog,
      ENGINE_ADDRESS: address,
      ...env,
    },
    onLine: (line) => {
      if (line.startsWith('{')) events.push(JSON.parse(line))
    },
  })
  const listening = await until('the service listens', () => events.find(({ message }) => message === 'listening'), {
    signal: exitSignal(server, 'The service'),
  })
  const { pid, ended, stop, kill } = server
  return { url: String(listening.url), catalog, events, pid, ended, stop, kill }
}
