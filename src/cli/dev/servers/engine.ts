/** Temporal's dev server as a child process. */
import type { EnsureOptions } from './component.ts'
import { freePorts, isTaken } from './ports.ts'
import { exitSignal, type RunningProcess, startProcess } from './process.ts'
import { ensureTemporal } from './temporal.ts'
import { until } from './until.ts'

export interface EngineServer {
  /** More flags of `temporal server start-dev`. */
  flags?: readonly string[]
  /** Created in addition to `default`. */
  namespaces?: readonly string[]
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

export interface RunningEngineServer {
  /** Host and port of gRPC. */
  address: string
  /** Temporal's web UI; null without `withUi`. */
  uiUrl: string | null
  serverVersion: string
  ports: EnginePorts
  program: RunningProcess
}

// Another process may take a port that was free a moment ago, also one that the server chose for itself. It is unlikely
// three times in a row.
const ATTEMPTS = 3

/**
 * Starts a Temporal dev server. Resolves when its namespaces can be used.
 * It is killed when this process exits for any reason.
 */
export async function startEngineServer(
  server: EngineServer,
  choosePorts: (attempt: number) => Promise<EnginePorts>,
): Promise<RunningEngineServer> {
  const command = await ensureTemporal(server.ensure)
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart(command, server, await choosePorts(attempt))
    } catch (error) {
      if (attempt === ATTEMPTS || !/already in use/.test(String(error))) throw error
    }
  }
}

/** Ports that the system chooses, but `preferred` as far as they are free. */
export async function freeEnginePorts(preferred: Partial<EnginePorts> = {}): Promise<EnginePorts> {
  const [grpc = 0, http = 0, metrics = 0, ui = 0] = await freePorts(4)
  const taken = await Promise.all(Object.values(preferred).map((port) => isTaken(port)))
  const free = Object.entries(preferred).filter((_, index) => !taken[index])
  return { grpc, http, metrics, ui, ...Object.fromEntries(free) }
}

/** The flags of the server's dynamic configuration. */
export function dynamicConfigFlags(config: Record<string, unknown>): string[] {
  return Object.entries(config).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`])
}

// It takes half a second on an idle machine, and can take half a minute on a busy one.
const START_TIMEOUT_MS = 90_000

async function tryToStart(command: string, server: EngineServer, ports: EnginePorts): Promise<RunningEngineServer> {
  // Otherwise another server on that port could be mistaken for ours.
  for (const port of Object.values(ports))
    if (await isTaken(port)) throw new Error(`The engine cannot start: port ${port} is already in use`)

  const { namespaces = [], withUi = false, flags = [], onLine } = server
  const args = [
    ...['server', 'start-dev', '--log-level', 'warn', '--ip', '127.0.0.1'],
    ...(withUi ? ['--ui-port', `${ports.ui}`, '--ui-disable-news-fetch'] : ['--headless']),
    ...['--port', `${ports.grpc}`, '--http-port', `${ports.http}`, '--metrics-port', `${ports.metrics}`],
    ...namespaces.flatMap((name) => ['--namespace', name]),
    ...flags,
  ]
  const program = await startProcess({ command, args, ...(onLine && { onLine }) })
  const httpUrl = `http://127.0.0.1:${ports.http}`
  try {
    const serverVersion = await until('the engine responds', () => usableVersion(httpUrl, namespaces), {
      timeoutMs: START_TIMEOUT_MS,
      signal: exitSignal(program, 'The engine'),
    })
    const uiUrl = withUi ? `http://localhost:${ports.ui}` : null
    return { address: `127.0.0.1:${ports.grpc}`, uiUrl, serverVersion, ports, program }
  } catch (error) {
    await program.kill()
    throw error
  }
}

// A restarted server may have a backlog of work.
const PROBE_TIMEOUT_MS = 10_000

/**
 * The server's version if the services behind its frontend (visibility, history, matching) respond too; otherwise null.
 */
async function usableVersion(httpUrl: string, namespaces: readonly string[]): Promise<string | null> {
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
