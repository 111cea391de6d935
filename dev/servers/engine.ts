/** Temporal's dev server as a child process. */
import type { HaveOptions } from './component.ts'
import { haveTemporal } from './components.ts'
import { freePorts, isTaken } from './ports.ts'
import { type RunningProcess, startProcess } from './process.ts'
import { until } from './until.ts'

export interface EngineOptions {
  /** Kept in this SQLite file; without one in memory, gone with the process. */
  dbFile?: string
  /** Of the server's dynamic configuration, e.g. `{'limit.blobSize.error': 4194304}`. */
  dynamicConfig?: Record<string, unknown>
  searchAttributes?: Record<string, 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList'>
  /** Beside `default`. */
  namespaces?: string[]
  /** Chosen by the system where they are absent. */
  ports?: Partial<EnginePorts>
  /** Of gRPC, when nobody has it; else the system's choice. */
  wishedPort?: number
  /** Gets each line that the server prints. */
  onLine?: (line: string) => void
  /** How the program is had, e.g. where progress goes. */
  have?: HaveOptions
}

export interface EnginePorts {
  grpc: number
  http: number
  metrics: number
}

export interface EngineAddresses {
  /** Host and port of gRPC. */
  address: string
  /** Of Temporal's HTTP API; null when the engine is not ours and tells none. */
  httpUrl: string | null
  /** Prometheus text; null when the engine is not ours. */
  metricsUrl: string | null
}

export interface RunningEngine extends EngineAddresses {
  httpUrl: string
  metricsUrl: string
  serverVersion: string
  pid: number
  /** Settles when the server has ended, whoever ended it. */
  ended: RunningProcess['ended']
  /** Ends it in order when it has a file to keep in order, else at once. */
  stop(): Promise<void>
  /** SIGKILL, as a crash would be. */
  kill(): Promise<void>
  /** After `stop` or `kill`: a new one with the same options on the same ports, and the same data when it has a `dbFile`. */
  restart(): Promise<RunningEngine>
}

/** An engine whose namespaces can be used. It ends with this process, however that ends. */
export async function startEngine(options: EngineOptions = {}): Promise<RunningEngine> {
  const program = await haveTemporal(options.have)
  return options.ports === undefined
    ? onFreePorts(program, options)
    : startServer(program, options, await portsFor(options.ports))
}

// A port that was free when we asked may be taken a moment later; thrice in a row it is not bad luck.
const ATTEMPTS = 3

async function onFreePorts(program: string, options: EngineOptions): Promise<RunningEngine> {
  const { wishedPort } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await startServer(
        program,
        options,
        await portsFor(wishedPort !== undefined && attempt === 1 ? { grpc: wishedPort } : {}),
      )
    } catch (error) {
      if (attempt === ATTEMPTS || !/already in use/.test(String(error))) throw error
    }
  }
}

async function portsFor(given: Partial<EnginePorts>): Promise<EnginePorts> {
  const [grpc = 0, http = 0, metrics = 0] = await freePorts(3)
  return { grpc, http, metrics, ...given }
}

// Half a second on a quiet machine.
const START_TIMEOUT_MS = 30_000

// A server with a file to close takes two seconds.
const STOP_GRACE_MS = 5000

async function startServer(program: string, options: EngineOptions, ports: EnginePorts): Promise<RunningEngine> {
  // Else the one who listens there may be taken for ours.
  for (const port of Object.values(ports))
    if (await isTaken(port)) throw new Error(`The engine can't start: port ${port} is already in use`)

  const { onLine } = options
  const server = await startProcess({ command: program, args: serverArgs(options, ports), ...(onLine && { onLine }) })
  const httpUrl = `http://127.0.0.1:${ports.http}`
  const died = new AbortController()
  void server.ended.then(({ code, signal }) =>
    died.abort(new Error(`The engine ended with ${code ?? signal}:\n${server.output()}`)),
  )

  try {
    const serverVersion = await until('the engine answers', () => usableVersion(httpUrl, options.namespaces), {
      timeoutMs: START_TIMEOUT_MS,
      signal: died.signal,
    })
    return {
      address: `127.0.0.1:${ports.grpc}`,
      httpUrl,
      metricsUrl: `http://127.0.0.1:${ports.metrics}/metrics`,
      serverVersion,
      pid: server.pid,
      ended: server.ended,
      stop: async () => void (options.dbFile === undefined ? await server.kill() : await server.stop(STOP_GRACE_MS)),
      kill: async () => void (await server.kill()),
      restart: () => startServer(program, options, ports),
    }
  } catch (error) {
    await server.kill()
    throw error
  }
}

function serverArgs(
  { dbFile, dynamicConfig = {}, searchAttributes = {}, namespaces = [] }: EngineOptions,
  ports: EnginePorts,
): string[] {
  return [
    ...['server', 'start-dev', '--headless', '--log-level', 'warn', '--ip', '127.0.0.1'],
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

/** The server's version once the parts behind its frontend (visibility, history, matching) answer too; null before. */
async function usableVersion(httpUrl: string, namespaces: string[] = []): Promise<string | null> {
  for (const namespace of ['default', ...namespaces]) {
    const url = `${httpUrl}/api/v1/namespaces/${namespace}`
    const [runs, noRun, queue] = await Promise.all([
      statusOf(`${url}/workflows`),
      statusOf(`${url}/workflows/none`),
      statusOf(`${url}/task-queues/none`),
    ])
    if (runs !== 200 || noRun !== 404 || queue !== 200) return null
  }
  const response = await fetch(`${httpUrl}/api/v1/system-info`, { signal: AbortSignal.timeout(1000) })
  const { serverVersion } = (await response.json()) as { serverVersion: string }
  return serverVersion
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, { signal: AbortSignal.timeout(1000) })
  await response.body?.cancel()
  return response.status
}
