/** Temporal's dev server as a child process. */
import type { EnsureOptions } from './component.ts'
import { freePorts, isTaken } from './ports.ts'
import { exitSignal, type RunningProcess, startProcess } from './process.ts'
import { ensureTemporal } from './temporal.ts'
import { until } from './until.ts'

export interface EngineServerOptions {
  /** SQLite file for the data. Default: in memory. */
  dbFile?: string
  /** The server's dynamic configuration, for example `{'limit.blobSize.error': 4194304}`. */
  dynamicConfig?: Record<string, unknown>
  searchAttributes?: Record<string, 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList'>
  /** Created in addition to `default`. */
  namespaces?: string[]
  /** Default: free ports that the system chooses. */
  ports?: Partial<EnginePorts>
  /** Used as far as they are free; otherwise the system chooses. */
  preferredPorts?: Partial<EnginePorts>
  /** Whether Temporal's web UI is started too. Default: false. */
  withUi?: boolean
  /** Called with each line that the server prints. */
  onLine?: (line: string) => void
  /** How the Temporal CLI is found or downloaded. */
  ensure?: EnsureOptions
}

export interface EnginePorts {
  grpc: number
  http: number
  metrics: number
  /** Used only with `withUi`. */
  ui: number
}

export interface EngineAddresses {
  /** Host and port of gRPC. */
  address: string
  /** Base URL of Temporal's HTTP API; null if the engine was started by someone else and the URL is not known. */
  httpUrl: string | null
  /** URL of the Prometheus metrics; null if the engine was started by someone else. */
  metricsUrl: string | null
}

export interface RunningEngine extends EngineAddresses {
  httpUrl: string
  metricsUrl: string
  /** Temporal's web UI; null without `withUi`. */
  uiUrl: string | null
  serverVersion: string
  pid: number
  /** Resolves when the server has exited for any reason. */
  ended: RunningProcess['ended']
  /** Shuts the server down if it has a `dbFile`, and kills it otherwise. */
  stop(): Promise<void>
  /** Sends SIGKILL, to simulate a crash. */
  kill(): Promise<void>
  /**
   * Call it after `stop` or `kill`. Starts the server again with the same options and ports,
   * and with the same data if it has a `dbFile`.
   */
  restart(): Promise<RunningEngine>
}

/**
 * Starts a Temporal dev server. Resolves when its namespaces can be used.
 * It is killed when this process exits for any reason.
 */
export async function startEngine(options: EngineServerOptions = {}): Promise<RunningEngine> {
  const program = await ensureTemporal(options.ensure)
  const { ports = {}, preferredPorts = {} } = options
  return startServer(program, options, async (attempt) =>
    portsFor({ ...(attempt === 1 && (await freeOf(preferredPorts))), ...ports }),
  )
}

// Another process may take a port that was free a moment ago, also one that the server chose for itself. It is unlikely
// three times in a row.
const ATTEMPTS = 3

async function startServer(
  program: string,
  options: EngineServerOptions,
  choosePorts: (attempt: number) => Promise<EnginePorts>,
): Promise<RunningEngine> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart(program, options, await choosePorts(attempt))
    } catch (error) {
      if (attempt === ATTEMPTS || !/already in use/.test(String(error))) throw error
    }
  }
}

async function portsFor(given: Partial<EnginePorts>): Promise<EnginePorts> {
  const [grpc = 0, http = 0, metrics = 0, ui = 0] = await freePorts(4)
  return { grpc, http, metrics, ui, ...given }
}

async function freeOf(ports: Partial<EnginePorts>): Promise<Partial<EnginePorts>> {
  const taken = await Promise.all(Object.values(ports).map((port) => isTaken(port)))
  return Object.fromEntries(Object.entries(ports).filter((_, index) => !taken[index]))
}

// It takes half a second on an idle machine, and can take half a minute on a busy one.
const START_TIMEOUT_MS = 90_000

// A server with a database file takes two seconds.
const STOP_GRACE_MS = 5000

async function tryToStart(program: string, options: EngineServerOptions, ports: EnginePorts): Promise<RunningEngine> {
  // Otherwise another server on that port could be mistaken for ours.
  for (const port of Object.values(ports))
    if (await isTaken(port)) throw new Error(`The engine cannot start: port ${port} is already in use`)

  const { onLine } = options
  const server = await startProcess({ command: program, args: serverArgs(options, ports), ...(onLine && { onLine }) })
  const httpUrl = `http://127.0.0.1:${ports.http}`

  try {
    const serverVersion = await until('the engine responds', () => usableVersion(httpUrl, options.namespaces), {
      timeoutMs: START_TIMEOUT_MS,
      signal: exitSignal(server, 'The engine'),
    })
    return {
      address: `127.0.0.1:${ports.grpc}`,
      httpUrl,
      metricsUrl: `http://127.0.0.1:${ports.metrics}/metrics`,
      uiUrl: options.withUi ? `http://localhost:${ports.ui}` : null,
      serverVersion,
      pid: server.pid,
      ended: server.ended,
      stop: async () => void (options.dbFile === undefined ? await server.kill() : await server.stop(STOP_GRACE_MS)),
      kill: async () => void (await server.kill()),
      restart: () => startServer(program, options, async () => ports),
    }
  } catch (error) {
    await server.kill()
    throw error
  }
}

function serverArgs(
  { dbFile, dynamicConfig = {}, searchAttributes = {}, namespaces = [], withUi }: EngineServerOptions,
  ports: EnginePorts,
): string[] {
  return [
    ...['server', 'start-dev', '--log-level', 'warn', '--ip', '127.0.0.1'],
    ...(withUi ? ['--ui-port', `${ports.ui}`, '--ui-disable-news-fetch'] : ['--headless']),
    ...['--port', `${ports.grpc}`, '--http-port', `${ports.http}`, '--metrics-port', `${ports.metrics}`],
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile]),
    ...namespaces.flatMap((name) => ['--namespace', name]),
    ...Object.entries(dynamicConfig).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${JSON.stringify(value)}`,
    ]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ]
}

// A restarted server may have a backlog of work.
const PROBE_TIMEOUT_MS = 10_000

/**
 * The server's version if the services behind its frontend (visibility, history, matching) respond too; otherwise null.
 */
async function usableVersion(httpUrl: string, namespaces: string[] = []): Promise<string | null> {
  for (const namespace of ['default', ...namespaces]) {
    const url = `${httpUrl}/api/v1/namespaces/${namespace}`
    const [list, unknownRun, taskQueue] = await Promise.all([
      statusOf(`${url}/workflows`),
      statusOf(`${url}/workflows/none`),
      statusOf(`${url}/task-queues/none`),
    ])
    if (list !== 200 || unknownRun !== 404 || taskQueue !== 200) return null
  }
  const response = await fetch(`${httpUrl}/api/v1/system-info`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
  const { serverVersion } = (await response.json()) as { serverVersion: string }
  return serverVersion
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
  await response.body?.cancel()
  return response.status
}
