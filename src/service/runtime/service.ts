/** Starts and stops the service on Node, Bun and Deno. */

import { jsonLog, type Log, withoutStack } from '../../log.ts'
import { type Config, ConfigError, type Environment, parseConfig, redactValues } from '../../shared/config.ts'
import { sleep } from '../../shared/lib/abort.ts'
import { VERSION } from '../../version.ts'
import { readConsoleFile } from '../fronts/console/lazy-files.ts'
import { readDocsFile } from '../fronts/docs/lazy-files.ts'
import type { LoadShedder } from '../http/pipeline/places.ts'
import { createPortico, type Parts, type Portico } from '../portico.ts'
import { engineAdvice } from './engine-advice.ts'
import { engineTransport } from './engine-transport.ts'
import { shutdownOnSignal } from './shutdown.ts'
import { startSpanExport } from './span-export.ts'
import { systemErrorCode } from './system-error-code.ts'

export interface ListenOptions {
  fetch(request: Request): Promise<Response>
  /** How many requests have no complete response yet, without probes and metrics. */
  openRequests?: () => number
  /** For servers that can respond before they create a `Request`. */
  loadShedder?: LoadShedder
  host: string
  /** 0: a free port that the system chooses. */
  port: number
  /** How long a connection without a request stays open; null: the runtime's default. Only Node can set it. */
  idleTimeoutMs?: number | null
  log: Log
}

export interface Listener {
  url: string
  /** Stops accepting connections. Resolves when every request has its response and every connection is closed. */
  close(): Promise<void>
}

/** Resolves when the server listens; rejects with the runtime's error when it cannot. */
export type Listen = (options: ListenOptions) => Promise<Listener>

/** Parts of the global `process`. Deno passes its own, see `docs/decisions/020-what-is-loaded-when.md`. */
export interface Process {
  env: Environment
  on(signal: 'SIGINT' | 'SIGTERM', act: () => void): unknown
  exit(code: number): never
}

export interface ServiceOptions {
  runtime: string
  process: Process
  listen: Listen
  /** False where the platform decides who can connect to the socket. */
  binds?: boolean
}

// Loading the engine's client blocks the thread for 100 ms or more.
// The first requests should not wait for that (decision 020).
const WARM_AFTER_MS = 250
const WARM_AGAIN_AFTER_MS = 5000

// A collector of spans that is down must not delay the end of the process, or make its exit code 1.
const FLUSH_MS = 2000
const AFTER_FLUSH_MS = 200

/** Runs the service that the environment describes until a signal ends it. Exits with 1 when it cannot start. */
export async function runService({ runtime, process, listen, binds = true }: ServiceOptions): Promise<void> {
  const policyFile = await openPolicyFile(process.env.SERVICE_POLICY_FILE)
  const config = await orExit(process, () => parseConfig(process.env, { binds, policyFile: policyFile?.first ?? null }))
  const redact = redactValues(process.env)
  const log = jsonLog({ minLevel: config.logLevel, write: (line) => console.log(line), redact })
  const transport = await orExit(process, () => engineTransport(config, log))
  const flushSpans = await startSpanExport(process.env, log)
  const portico = createPortico({
    config,
    transport,
    log,
    runtime,
    readDocsFile,
    readConsoleFile,
    traceSources: await localTraces(config),
  })
  const { host, port, idleTimeoutMs } = config.server
  const { fetch, loadShedder, openRequests } = portico
  const listener = await orExitListening(process, { host, port }, 'SERVICE_PORT', () =>
    listen({ fetch, loadShedder, openRequests, host, port, idleTimeoutMs, log }),
  )
  const metricsListener = await listenForMetrics(process, config, portico, (options) => listen({ ...options, log }))
  const warn = (error: unknown, advice: string) =>
    log('warn', `cannot use the engine yet: ${redact(advice)}`, {
      cause: error instanceof Error ? withoutStack(error) : error,
    })
  const adviceOn = (error: unknown) => engineAdvice(error, config.engine.transport, process.env)
  const closing = new AbortController()
  // Not setTimeout, see decision 020.
  AbortSignal.timeout(WARM_AFTER_MS).addEventListener('abort', () =>
    warm({ portico, adviceOn, warn, closing: closing.signal }),
  )
  const stopWatching = policyFile?.watch(config, portico, log)
  closeOnSignals(process, config, portico.drain, async () => {
    closing.abort()
    stopWatching?.()
    const flushBy = Date.now() + config.server.shutdownTimeoutMs - AFTER_FLUSH_MS
    log('info', 'shutting down')
    await listener.close()
    // After the other listener, so that a scrape can still read the metrics of the requests that end now.
    await metricsListener?.close()
    await portico.close()
    await flushSpans?.(Math.min(flushBy, Date.now() + FLUSH_MS))
  })
  // Last: a program that reads this line may send a signal immediately.
  log('info', 'listening', {
    url: `${listener.url}${config.basePath}`,
    ...(metricsListener !== null && { metricsUrl: `${metricsListener.url}/metrics` }),
    version: VERSION,
    engine: config.engine.transport === 'http' ? new URL(String(config.engine.httpUrl)).host : config.engine.address,
    namespace: config.engine.namespace,
    catalog: config.catalog,
    ...accessFields(config),
  })
}

function accessFields({ access: { tokens, policy } }: Config): Record<string, unknown> {
  const open = tokens === null && policy === null
  // A shared token beside a policy lets its holders do everything.
  return { open, ...(policy !== null && { rules: policy.rules.length, operators: tokens !== null }) }
}

/** Reads the file of the policy. Null without one, or if the variable is empty. */
async function openPolicyFile(path: string | undefined) {
  if (path === undefined || path === '') return null
  // Decision 020: `node:fs` is loaded only for a file.
  const { readPolicyFile, watchPolicyFile } = await import('./policy-file.ts')
  const first = await readPolicyFile(path)
  return {
    first,
    watch: ({ engine, access }: Config, { setPolicy, policyReloadFailed }: Portico, log: Log) =>
      watchPolicyFile({
        path,
        first,
        names: { namespaces: engine.namespaces, hookSecrets: access.hookSecrets },
        log,
        onPolicy: setPolicy,
        onFailure: policyReloadFailed,
      }),
  }
}

async function localTraces({
  engine: { namespaces },
  traces: { local, maxBytes },
}: Config): Promise<NonNullable<Parts['traceSources']>> {
  if (local === null) return []
  // Decision 020: `node:fs` is loaded only for a local folder.
  const { tracesFromFile } = await import('../traces/from-file.ts')
  const isOnlyNamespace = namespaces.length === 1
  return (namespace) => [tracesFromFile({ directory: local.directory, namespace, isOnlyNamespace, maxBytes })]
}

/** Serves `/metrics` on its own port; null unless `SERVICE_METRICS_PORT` is set. */
async function listenForMetrics(
  process: Process,
  { server: { host }, metrics }: Config,
  { fetchMetrics }: Portico,
  listen: (options: Omit<ListenOptions, 'log'>) => Promise<Listener>,
): Promise<Listener | null> {
  const port = metrics?.port ?? null
  if (port === null || fetchMetrics === null) return null
  return orExitListening(process, { host, port }, 'SERVICE_METRICS_PORT', () =>
    listen({ fetch: fetchMetrics, host, port }),
  )
}

async function orExitListening(
  process: Process,
  { host, port }: Pick<ListenOptions, 'host' | 'port'>,
  variable: string,
  listen: () => Promise<Listener>,
): Promise<Listener> {
  try {
    return await listen()
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'EADDRINUSE')
      return exit(process, `Port ${port} on ${host} is already in use; stop the other process or set ${variable}`)
    return exit(process, `Cannot listen on ${host}, port ${port} (${code}); check SERVICE_HOST and ${variable}`)
  }
}

function closeOnSignals(
  process: Process,
  { server: { shutdownTimeoutMs } }: Config,
  drain: () => void,
  close: () => Promise<void>,
): void {
  const shutDown = shutdownOnSignal({ timeoutMs: shutdownTimeoutMs, close, drain, exit: (code) => process.exit(code) })
  process.on('SIGTERM', shutDown)
  process.on('SIGINT', shutDown)
}

interface Warming {
  portico: Portico
  /** Why the engine cannot be used, and what to check. */
  adviceOn(error: unknown): string
  warn(error: unknown, advice: string): void
  closing: AbortSignal
}

/**
 * Connects to the engine early, and retries until that succeeds. Logs a warning whenever the reason of the failure
 * changes.
 */
async function warm({ portico, adviceOn, warn, closing }: Warming): Promise<void> {
  let warned: string | null = null
  while (!closing.aborted) {
    try {
      return await portico.warm()
    } catch (error) {
      const advice = adviceOn(error)
      if (advice !== warned) warn(error, advice)
      warned = advice
    }
    await sleep(WARM_AGAIN_AFTER_MS, closing)
  }
}

/** The result of `run`. Prints a `ConfigError` and exits. */
async function orExit<T>(process: Process, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ConfigError) return exit(process, error.message)
    throw error
  }
}

function exit(process: Process, message: string): never {
  console.error(message)
  process.exit(1)
}
