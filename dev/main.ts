/** `npm run dev`: an engine, the example worker and the API, until Ctrl-C or until one of them ends. */
import { fileURLToPath } from 'node:url'
import { parseConfig } from '../src/config.ts'
import { withoutBundleReport } from './bundle-report.ts'
import { firstSteps } from './first-steps.ts'
import { Interruption, whenInterrupted } from './interruption.ts'
import { type ProgramName, print, printer } from './print.ts'
import { type RunningEngine, startEngine } from './servers/engine.ts'
import { freePort, listenErrorCode } from './servers/ports.ts'
import { type RunningProcess, startProcess } from './servers/process.ts'
import { until } from './servers/until.ts'

// The defaults of Temporal's own dev server, its clients and workers.
const ENGINE_PORTS = { grpc: 7233, ui: 8233 }
const READY_TIMEOUT_MS = 60_000
const PROBE_TIMEOUT_MS = 2000
const PROBE_INTERVAL_MS = 200
const STOP_GRACE_MS = 3000

// The request id of the probes during the start. Their log lines are not printed.
const PROBE_REQUEST_ID = `dev-${process.pid}`

const env: Record<string, string | undefined> = {
  SERVICE_CATALOG_ID: 'examples',
  SERVICE_TRACE_LOCAL_ON: 'true',
  SERVICE_TRACE_LOCAL_DIR: fileURLToPath(new URL('../.cache/traces', import.meta.url)),
  // Everything must have exited five seconds after Ctrl-C.
  SERVICE_SHUTDOWN_TIMEOUT: '2s',
  ...withoutEmpty(process.env),
}
const shutdown = new AbortController()
const { signal } = shutdown
let engine: RunningEngine | undefined
const programs: RunningProcess[] = []

whenInterrupted((interruption) => shutdown.abort(interruption))
try {
  const { url, ...facts } = await startAll()
  print(firstSteps(url, facts))
  await aborted()
} catch (error) {
  shutdown.abort(error)
}
await stopAll()
process.exit(exitCode(signal.reason))

async function startAll(): Promise<{ url: string; withToken: boolean; uiUrl: string | null }> {
  const { server, access } = parseConfig(env, { binds: true })
  await assertFree(server.port, server.host)
  const port = server.port || (await freePort())

  const address = env.ENGINE_ADDRESS ?? (await ownEngine())
  const uiUrl = env.ENGINE_UI_URL ?? engine?.uiUrl ?? null
  await startProgram('worker', '../examples/worker.ts', { ...env, ENGINE_ADDRESS: address })
  await startProgram('api', '../src/runtime/node/index.ts', {
    ...env,
    ENGINE_ADDRESS: address,
    SERVICE_PORT: `${port}`,
    ...(uiUrl !== null && { ENGINE_UI_URL: uiUrl }),
  })

  const url = `http://${addressable(server.host)}:${port}`
  const token = access.tokens?.[0]
  const headers = { 'x-request-id': PROBE_REQUEST_ID, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const get = (path: string) => fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
  const bounds = { timeoutMs: READY_TIMEOUT_MS, everyMs: PROBE_INTERVAL_MS, signal }
  await until('the API reaches the engine', async () => (await get('/ready')).ok, bounds)
  await until(
    'the worker has published its workflows',
    async () => /"greet"/.test(await (await get('/workflow/catalog')).text()),
    bounds,
  )
  return { url, withToken: token !== undefined, uiUrl }
}

async function ownEngine(): Promise<string> {
  engine = await startEngine({
    preferredPorts: ENGINE_PORTS,
    dynamicConfig: { 'frontend.WorkflowPauseEnabled': true },
    withUi: true,
    namespaces: env.ENGINE_NAMESPACE === undefined ? [] : [env.ENGINE_NAMESPACE],
    onLine: printer('engine'),
    ensure: { signal, progress: printer('engine') },
  })
  follow('engine', engine)
  return engine.address
}

async function startProgram(name: ProgramName, file: string, env: Record<string, string | undefined>): Promise<void> {
  signal.throwIfAborted()
  const path = fileURLToPath(new URL(file, import.meta.url))
  const printLine = name === 'worker' ? withoutBundleReport(printer(name)) : printer(name)
  const onLine = (line: string) => isProbe(line) || printLine(line)
  const program = await startProcess({ command: process.execPath, args: [path], env, onLine })
  programs.push(program)
  follow(name, program)
}

function isProbe(line: string): boolean {
  return line.includes(PROBE_REQUEST_ID) && line.includes('"level":"info"')
}

/** Shuts everything down when this program exits. */
function follow(name: ProgramName, { pid, ended }: Pick<RunningProcess, 'pid' | 'ended'>): void {
  printer(name)(`started as process ${pid}`)
  void ended.then(({ code, signal }) => {
    shutdown.abort(
      new Error(`The ${name} exited unexpectedly (${signal ?? `exit code ${code}`}); see its last lines above.`),
    )
  })
}

async function assertFree(port: number, host: string): Promise<void> {
  const code = await listenErrorCode(port, host)
  if (code === null) return
  const reason = code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${code})`
  throw new Error(
    `Port ${port} on ${host} ${reason}. Stop the other process, or choose another port: SERVICE_PORT=${port + 1} npm run dev`,
  )
}

function aborted(): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}

/** Stops the engine last, because the worker and the API need it to shut down. */
async function stopAll(): Promise<void> {
  await Promise.all(programs.map((program) => program.stop(STOP_GRACE_MS)))
  await engine?.stop()
}

/** Prints why everything has stopped, and returns the exit code. */
function exitCode(reason: unknown): number {
  const isWanted = reason instanceof Interruption
  print(isWanted ? 'Stopped.' : reason instanceof Error ? reason.message : String(reason))
  return isWanted ? 0 : 1
}

/** An empty variable counts as unset, as in the service. */
function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
}

function addressable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
