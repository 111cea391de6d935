/** Temporal's dev server with what tests need: its own data, settings, crashes and restarts. */
import {
  dynamicConfigFlags,
  type EnginePorts,
  type EngineServer,
  freeEnginePorts,
  startEngineServer,
} from '../../src/cli/dev/servers/engine.ts'
import { observed } from './process.ts'

export interface EngineServerOptions extends Omit<EngineServer, 'flags'> {
  /** SQLite file for the data. Default: in memory. */
  dbFile?: string
  /** The server's dynamic configuration, for example `{'limit.blobSize.error': 4194304}`. */
  dynamicConfig?: Record<string, unknown>
  searchAttributes?: Record<string, 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList'>
  /** Default: free ports that the system chooses. */
  ports?: Partial<EnginePorts>
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

// A server with a database file takes two seconds.
const STOP_GRACE_MS = 5000

/**
 * Starts a Temporal dev server. Resolves when its namespaces can be used.
 * It is killed when this process exits for any reason.
 */
export async function startEngine(options: EngineServerOptions = {}): Promise<RunningEngine> {
  return startWith(options, async () => ({ ...(await freeEnginePorts()), ...options.ports }))
}

async function startWith(
  options: EngineServerOptions,
  choosePorts: () => Promise<EnginePorts>,
): Promise<RunningEngine> {
  const { dbFile, dynamicConfig = {}, searchAttributes = {}, ports: _, ...server } = options
  const flags = [
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile]),
    ...dynamicConfigFlags(dynamicConfig),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ]
  const started = await startEngineServer({ ...server, flags, onLine: observed(server) }, choosePorts)
  const { ports, program } = started
  return {
    address: started.address,
    httpUrl: `http://127.0.0.1:${ports.http}`,
    metricsUrl: `http://127.0.0.1:${ports.metrics}/metrics`,
    uiUrl: started.uiUrl,
    serverVersion: started.serverVersion,
    pid: program.pid,
    stop: async () => void (dbFile === undefined ? await program.kill() : await program.stop(STOP_GRACE_MS)),
    kill: async () => void (await program.kill()),
    restart: () => startWith(options, async () => ports),
  }
}
