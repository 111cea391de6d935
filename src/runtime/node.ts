/** `npm start`: the service on Node. */
import { readFileSync } from 'node:fs'
import { createPortico, type Portico } from '../assemble.ts'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import { type GrpcTls, grpcTransport } from '../engine/transport/grpc.ts'
import { jsonLog, type Log } from '../log.ts'
import { type NodeServer, serveNode } from './node-server.ts'
import { shutdownOnSignal } from './shutdown.ts'

await main()

async function main(): Promise<void> {
  const config = orEnd(() => parseConfig(process.env, { binds: true }))
  const transport = orEnd(() => transportOf(config))
  const log = jsonLog(config.logLevel, (line) => void process.stdout.write(`${line}\n`))
  const portico = createPortico({ config, transport, log })
  const server = await listen(config, portico)
  endOnSignals(config, portico, server, log)
  log('info', 'listening', { url: server.url, catalog: config.catalog, open: config.access.tokens === null })
  await warm(portico, log)
}

function transportOf({ engine: { transport, address, apiKey, tls } }: Config) {
  if (transport === 'http') throw new ConfigError(['ENGINE_TRANSPORT=http is not in this build yet: use grpc'])
  return grpcTransport({ address, apiKey, tls: tls === null ? null : readTls(tls) })
}

function readTls({ caPath, certPath, keyPath, serverName }: NonNullable<Config['engine']['tls']>): GrpcTls {
  return {
    ...(caPath !== null && { ca: readPem('ENGINE_TLS_CA', caPath) }),
    ...(certPath !== null && { cert: readPem('ENGINE_TLS_CERT', certPath) }),
    ...(keyPath !== null && { key: readPem('ENGINE_TLS_KEY', keyPath) }),
    ...(serverName !== null && { serverName }),
  }
}

function readPem(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError([`${variable} names a file that can't be read (${codeOf(error)})`])
  }
}

async function listen({ server: { host, port } }: Config, portico: Portico): Promise<NodeServer> {
  try {
    return await serveNode({ fetch: portico.fetch, host, port })
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE')
      return end(`Port ${port} of ${host} is taken: end what listens there, or choose another SERVICE_PORT`)
    return end(`Can't listen on ${host}, port ${port} (${codeOf(error)}): look at SERVICE_HOST and SERVICE_PORT`)
  }
}

function endOnSignals({ server: { shutdownTimeoutMs } }: Config, portico: Portico, server: NodeServer, log: Log): void {
  const shutDown = shutdownOnSignal({
    timeoutMs: shutdownTimeoutMs,
    close: async () => {
      log('info', 'shutting down')
      await server.close()
      await portico.close()
    },
    drain: portico.drain,
    exit: (code) => process.exit(code),
  })
  process.on('SIGTERM', shutDown)
  process.on('SIGINT', shutDown)
}

/** Whoever starts the service learns at once what is wrong with its engine; it serves all the same, for the engine may come later. */
async function warm(portico: Portico, log: Log): Promise<void> {
  try {
    await portico.warm()
  } catch (error) {
    log('warn', `the engine can't be used yet: ${engineAdvice(error)}`, { cause: error })
  }
}

function engineAdvice(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'EngineUnavailableError') return 'it does not answer, look at ENGINE_ADDRESS and ENGINE_TLS'
  return error.cause instanceof Error ? error.cause.message : error.message
}

/** What `make` makes, or the end with all that is wrong with the configuration. */
function orEnd<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof ConfigError) return end(error.message)
    throw error
  }
}

function end(sentence: string): never {
  console.error(sentence)
  process.exit(1)
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : String(error)
}
