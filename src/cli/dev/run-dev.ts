/**
 * `portico dev` and `npm run dev`: an engine, the API and a worker, until Ctrl-C or until one of them ends. A crash of
 * the worker ends nothing.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileText, parseConfig } from '../../shared/config.ts'
import { unlessAborted } from '../../shared/lib/abort.ts'
import { errorCode } from '../../shared/lib/error-code.ts'
import { errorMessage } from '../../shared/lib/error-message.ts'
import { cacheFolder } from './servers/cache-folder.ts'
import { dynamicConfigFlags, freeEnginePorts, type RunningEngineServer, startEngineServer } from './servers/engine.ts'
import { freePort, listenErrorCode } from './servers/ports.ts'
import { type Ended, type RunningProcess, startProcess } from './servers/process.ts'
import { until } from './servers/until.ts'
import { DevInterruption, type ProgramName, print, printer, whenInterrupted } from './terminal.ts'
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts'

export type ChildEnvironment = Record<string, string | undefined>

export interface DevOptions {
  /** Variables of the service and of the worker. An empty one counts as unset, as in the service. */
  env: ChildEnvironment
  /** Unless `SERVICE_CATALOG_ID` names one. */
  defaultCatalog: string
  /** Arguments with which the runtime starts the service: a script, unless the executable contains it. */
  service: string[]
  /** Null: none is started. */
  worker: WorkerCommand | null
  /** The folder whose source files start the worker again when they change; null: it does not start again. */
  watch?: string | null
  /** Returns what is printed once the API can be used. */
  whenReady(api: ReadyApi): string | null
  /** Returns what is printed once the worker has published its workflows. */
  whenPublished(api: ReadyApi, workflows: PublishedWorkflow[]): string
  /** Whether a worker that publishes nothing is an error. */
  mustPublish?: boolean
}

/** A workflow as the catalog lists it. */
export interface PublishedWorkflow {
  name: string
  inputSchema?: unknown
}

export interface WorkerCommand {
  command: string
  args: string[]
  /** Returns a function that prints only the relevant lines. */
  filter?: (printLine: (line: string) => void) => (line: string) => void
}

export interface ReadyApi {
  url: string
  withToken: boolean
  catalog: string
  /** `host:port` of the engine. */
  address: string
  uiUrl: string | null
  /** Whether `GET /docs` exists. */
  docs: boolean
  /** Whether `GET /console` exists. */
  console: boolean
}

// The defaults of Temporal's own dev server, its clients and workers.
const ENGINE_PORTS = { grpc: 7233, ui: 8233 }
const READY_TIMEOUT_MS = 60_000
const PROBE_TIMEOUT_MS = 2000
const PROBE_INTERVAL_MS = 200
const STOP_GRACE_MS = 3000

// The request id of the probes during the start. Their log lines are not printed.
const PROBE_REQUEST_ID = `dev-${process.pid}`

/** The reason of a shutdown: a program that has exited. */
class ProgramExit extends Error {
  readonly exitCode: number

  constructor(name: ProgramName, { code, signal }: Ended) {
    const how = signal ?? `exit code ${code}`
    super(`The ${name} exited ${code === 0 ? '' : 'unexpectedly '}(${how}); see its last lines above.`)
    // The engine and the API must not exit at all, and a worker that has crashed ends nothing.
    this.exitCode = name === 'worker' ? 0 : 1
  }
}

/**
 * Resolves with the exit code when everything has stopped: 0 after a signal or if the worker has exited with 0, else 1.
 */
export async function runDev(options: DevOptions): Promise<number> {
  const shutdown = new AbortController()
  const { signal } = shutdown
  const env = { ...defaults(options.defaultCatalog), ...withoutEmpty(options.env) }
  let engine: RunningEngineServer | undefined
  let worker: WatchedWorker | undefined
  const programs: RunningProcess[] = []

  whenInterrupted((interruption) => shutdown.abort(interruption))
  try {
    await unlessAborted(startAll(), signal)
    await unlessAborted(new Promise(() => {}), signal)
  } catch (error) {
    shutdown.abort(error)
  }
  await stopAll()
  return exitCode(signal.reason)

  async function startAll(): Promise<void> {
    const policyFile = await readPolicyFile(env.SERVICE_POLICY_FILE)
    const config = parseConfig(env, { binds: true, policyFile })
    const { server, access, catalog, docs, console } = config
    await assertFree(server.port, server.host)
    const port = server.port || (await freePort())

    const address = env.ENGINE_ADDRESS ?? (await ownEngine(config.engine.namespaces))
    const uiUrl = env.ENGINE_UI_URL ?? engine?.uiUrl ?? null
    // With a policy alone, this program could not see when the API is ready.
    const ownToken = access.tokens === null && access.policy !== null ? crypto.randomUUID() : null
    const token = access.tokens?.[0] ?? ownToken ?? undefined
    const withEngine = { ...env, ENGINE_ADDRESS: address }
    if (options.worker !== null) await startWorker(options.worker, workerEnvironment(withEngine))
    const api = await startProgram(
      'api',
      { command: process.execPath, args: options.service },
      {
        ...withEngine,
        SERVICE_PORT: `${port}`,
        ...(uiUrl !== null && { ENGINE_UI_URL: uiUrl }),
        ...(ownToken !== null && { SERVICE_API_AUTH_TOKEN: ownToken }),
      },
    )

    programs.push(api)
    follow('api', api)

    const url = `http://${addressable(server.host)}:${port}`
    const ready = { url, withToken: token !== undefined, catalog, address, uiUrl, docs, console }
    const get = probe(url, token)
    const bounds = { timeoutMs: READY_TIMEOUT_MS, everyMs: PROBE_INTERVAL_MS, signal }
    await until('the API reaches the engine', async () => (await get('/ready')).ok, bounds)
    const message = options.whenReady(ready)
    if (message !== null) print(message)
    if (options.worker !== null) await announceWorkflows(ready, get, bounds)
  }

  async function announceWorkflows(api: ReadyApi, get: Probe, bounds: Parameters<typeof until>[2]): Promise<void> {
    const published = until('the worker has published its workflows', () => publishedWorkflows(get), bounds)
    // A plain Temporal worker publishes nothing, and neither does one that has crashed.
    const workflows = await published.catch((error: unknown) => {
      if (options.mustPublish && worker?.isRunning()) throw error
      return null
    })
    if (workflows !== null) print(options.whenPublished(api, workflows))
  }

  async function ownEngine(namespaces: readonly string[]): Promise<string> {
    const server = {
      flags: dynamicConfigFlags({ 'frontend.WorkflowPauseEnabled': true }),
      withUi: true,
      // The server creates `default` itself.
      namespaces: namespaces.filter((name) => name !== 'default'),
      onLine: printer('engine'),
      ensure: { signal, progress: printer('engine') },
    }
    engine = await startEngineServer(server, (attempt) => freeEnginePorts(attempt === 1 ? ENGINE_PORTS : {}))
    printer('engine')(`started as process ${engine.program.pid}`)
    follow('engine', engine.program)
    return engine.address
  }

  async function startProgram(name: ProgramName, { command, args, filter }: WorkerCommand, env: ChildEnvironment) {
    signal.throwIfAborted()
    const printLine = filter ? filter(printer(name)) : printer(name)
    const onLine = (line: string) => isProbe(line) || printLine(line)
    const program = await startProcess({ command, args, env, onLine })
    printer(name)(`started as process ${program.pid}`)
    return program
  }

  /** A worker that has crashed ends nothing, so that its runs can be read. */
  async function startWorker(command: WorkerCommand, env: ChildEnvironment): Promise<void> {
    const folder = options.watch ?? null
    worker = await startWatchedWorker({
      start: () => startProgram('worker', command, env),
      folder,
      graceMs: STOP_GRACE_MS,
      onEnd(how) {
        const exit = new ProgramExit('worker', how)
        if (how.code === 0) return shutdown.abort(exit)
        const next = folder === null ? 'stop them with Ctrl-C' : 'the worker starts again when a source file changes'
        print(`${exit.message} The API and the engine are still running; ${next}.`)
      },
      onError: (error) => signal.aborted || print(errorMessage(error)),
    })
  }

  /** Shuts everything down when this program exits. */
  function follow(name: ProgramName, { ended }: Pick<RunningProcess, 'ended'>): void {
    void ended.then((how) => shutdown.abort(new ProgramExit(name, how)))
  }

  /**
   * Stops the engine last, because the worker and the API need it to shut down.
   * One that is still starting ends with this process.
   */
  async function stopAll(): Promise<void> {
    await Promise.all([worker?.stop(), ...programs.map((program) => program.stop(STOP_GRACE_MS))])
    await engine?.program.kill()
  }
}

function defaults(catalog: string): ChildEnvironment {
  return {
    SERVICE_CATALOG_ID: catalog,
    SERVICE_CHECK_OUTPUTS: 'true',
    SERVICE_DOCS_ON: 'true',
    SERVICE_CONSOLE_ON: 'true',
    SERVICE_TRACE_LOCAL_ON: 'true',
    SERVICE_TRACE_LOCAL_DIR: join(cacheFolder(), 'traces'),
    // Everything must have exited five seconds after Ctrl-C.
    SERVICE_SHUTDOWN_TIMEOUT: '2s',
  }
}

/** The policy as the API will read it. */
async function readPolicyFile(path: string | undefined): Promise<FileText | null> {
  if (path === undefined) return null
  try {
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    return { error: String(errorCode(error)) }
  }
}

type Probe = (path: string) => Promise<Response>

function probe(url: string, token: string | undefined): Probe {
  const headers = { 'x-request-id': PROBE_REQUEST_ID, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  return (path) => fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
}

/** The workflows in the catalog; null if it has none yet. */
async function publishedWorkflows(get: Probe): Promise<PublishedWorkflow[] | null> {
  const response = await get('/workflow/catalog')
  const { workflows = [] }: { workflows?: PublishedWorkflow[] } = await response.json()
  return workflows.length === 0 ? null : workflows
}

function isProbe(line: string): boolean {
  return line.includes(PROBE_REQUEST_ID) && line.includes('"level":"info"')
}

async function assertFree(port: number, host: string): Promise<void> {
  const code = await listenErrorCode(port, host)
  if (code === null) return
  const reason = code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${code})`
  throw new Error(
    `Port ${port} on ${host} ${reason}. Stop the other process, or choose another port: SERVICE_PORT=${port + 1}`,
  )
}

/** Prints why everything has stopped. */
function exitCode(reason: unknown): number {
  if (reason instanceof DevInterruption) {
    print('Stopped.')
    return 0
  }
  print(errorMessage(reason))
  return reason instanceof ProgramExit ? reason.exitCode : 1
}

function withoutEmpty(env: ChildEnvironment): ChildEnvironment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
}

function addressable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * The environment of a worker: with our variables, and with those that Temporal's SDKs read themselves
 * (`loadClientConnectConfig` and its like).
 */
function workerEnvironment(env: ChildEnvironment): ChildEnvironment {
  return {
    ...env,
    TEMPORAL_ADDRESS: env.ENGINE_ADDRESS,
    TEMPORAL_NAMESPACE: env.ENGINE_NAMESPACE ?? 'default',
  }
}
