/** What the entries of Node, Bun and Deno have in common. */

import { type Config, ConfigError, type Environment, parseConfig, redactValues } from '../config.ts'
import { NAME_IS_ADDRESS, tlsFailureReason } from '../engine/transport/grpc/tls-errors.ts'
import { jsonLog, type Log, withoutStack } from '../log.ts'
import { createPortico, type Parts, type Portico } from '../portico.ts'
import { engineTransport } from './engine-transport.ts'
import { shutdownOnSignal } from './shutdown.ts'
import { systemErrorCode } from './system-error-code.ts'

export interface ListenOptions {
  fetch(request: Request): Promise<Response>
  host: string
  /** 0: the system chooses. */
  port: number
  log: Log
}

export interface Listener {
  url: string
  /** Takes no more connections; resolves when every request is answered and every connection is closed. */
  close(): Promise<void>
}

/** Resolves when it listens; rejects when it can't, with the runtime's error. */
export type Listen = (options: ListenOptions) => Promise<Listener>

/** The process that serves. Deno has `process` too, but loads its Node for it: a third of an empty Deno's start. */
export interface Process {
  env: Environment
  on(signal: 'SIGINT' | 'SIGTERM', act: () => void): unknown
  exit(code: number): never
}

export interface ServiceOptions {
  runtime: string
  process: Process
  listen: Listen
  /** False where a platform decides who reaches the socket. */
  binds?: boolean
}

// Loading the engine's client takes the thread for a tenth of a second and more: whoever asks as soon as we listen is answered before.
const WARM_AFTER_MS = 250

/** Serves what the environment says, until a signal ends it. Ends the process at once when it can't. */
export async function runService({ runtime, process, listen, binds = true }: ServiceOptions): Promise<void> {
  const config = await orEnd(process, () => parseConfig(process.env, { binds }))
  const transport = await orEnd(process, () => engineTransport(config))
  const hide = redactValues(process.env)
  const log = jsonLog({ leastLevel: config.logLevel, write: (line) => console.log(line), hide })
  const portico = createPortico({ config, transport, log, runtime, traceSources: await localTraces(config) })
  const listener = await orEndListening(process, config, () => listen({ fetch: portico.fetch, ...config.server, log }))
  const warn = (advice: string, cause: unknown) =>
    log('warn', `the engine can't be used yet: ${hide(advice)}`, { cause })
  const ending = new AbortController()
  // No setTimeout: the first one loads Deno's Node.
  const soon = AbortSignal.timeout(WARM_AFTER_MS)
  soon.addEventListener('abort', () => void warm(config, portico, warn), { signal: ending.signal })
  endOnSignals(process, config, portico.drain, async () => {
    ending.abort()
    log('info', 'shutting down')
    await listener.close()
    await portico.close()
  })
  // Whoever reads it may send a signal at once.
  log('info', 'listening', {
    url: `${listener.url}${config.basePath}`,
    catalog: config.catalog,
    open: config.access.tokens === null,
  })
}

// What only some need of the runtime is loaded for them alone: to Bun and Deno each part of `node:` costs milliseconds of the start.

async function localTraces({
  engine: { namespace },
  traces: { local, maxBytes },
}: Config): Promise<NonNullable<Parts['traceSources']>> {
  if (local === null) return []
  const { tracesFromFile } = await import('../trace/from-file.ts')
  return [tracesFromFile({ directory: local.directory, namespace, maxBytes })]
}

async function orEndListening(
  process: Process,
  { server: { host, port } }: Config,
  listen: () => Promise<Listener>,
): Promise<Listener> {
  try {
    return await listen()
  } catch (error) {
    if (systemErrorCode(error) === 'EADDRINUSE')
      return end(process, `Port ${port} of ${host} is taken: end what listens there, or choose another SERVICE_PORT`)
    return end(
      process,
      `Can't listen on ${host}, port ${port} (${systemErrorCode(error)}): look at SERVICE_HOST and SERVICE_PORT`,
    )
  }
}

function endOnSignals(
  process: Process,
  { server: { shutdownTimeoutMs } }: Config,
  drain: () => void,
  close: () => Promise<void>,
): void {
  const shutDown = shutdownOnSignal({ timeoutMs: shutdownTimeoutMs, close, drain, exit: (code) => process.exit(code) })
  process.on('SIGTERM', shutDown)
  process.on('SIGINT', shutDown)
}

/** Whoever starts the service learns at once what is wrong with its engine; it serves all the same, for the engine may come later. */
async function warm(
  { engine }: Config,
  portico: Portico,
  warn: (advice: string, cause: unknown) => void,
): Promise<void> {
  try {
    await portico.warm()
  } catch (error) {
    warn(engineAdvice(error, engine.transport), error instanceof Error ? withoutStack(error) : error)
  }
}

const VARIABLES = {
  grpc: {
    ofAddress: 'ENGINE_ADDRESS and ENGINE_TLS',
    ofTls: 'ENGINE_TLS_CA, ENGINE_TLS_SERVER_NAME and ENGINE_TLS_CERT',
  },
  http: {
    ofAddress: 'ENGINE_HTTP_URL',
    ofTls: 'ENGINE_HTTP_URL and the certificates that the runtime trusts (NODE_EXTRA_CA_CERTS, DENO_CERT)',
  },
}

function engineAdvice(error: unknown, transport: Config['engine']['transport']): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'EngineUnavailableError') {
    const fault = tlsFailureReason(error)
    if (fault !== null) return `the TLS handshake failed (${fault}), ${tlsAdvice(fault, transport)}`
    return `it does not answer, look at ${VARIABLES[transport].ofAddress}`
  }
  return error.cause instanceof Error ? error.cause.message : error.message
}

function tlsAdvice(fault: string, transport: Config['engine']['transport']): string {
  if (transport === 'grpc' && /wrong.version.number/i.test(fault))
    return 'the engine seems to speak plain text: look at ENGINE_TLS, which ENGINE_API_KEY and every other ENGINE_TLS_… variable imply'
  if (transport === 'grpc' && fault === NAME_IS_ADDRESS)
    return 'ENGINE_ADDRESS is an IP address: set ENGINE_TLS_SERVER_NAME to the name in its certificate'
  return `look at ${VARIABLES[transport].ofTls}`
}

/** What `make` makes, or the end with all that is wrong with the configuration. */
async function orEnd<T>(process: Process, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof ConfigError) return end(process, error.message)
    throw error
  }
}

function end(process: Process, sentence: string): never {
  console.error(sentence)
  process.exit(1)
}
