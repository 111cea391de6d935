import type { Log } from '../../log.ts'
import type { Config } from '../../shared/config.ts'
import { grpcTransport } from '../engine/transport/grpc/transport.ts'
import { httpApiTransport } from '../engine/transport/http/transport.ts'
import type { Transport } from '../engine/transport/transport.ts'

/**
 * The transport that the configuration describes, for `createPortico`:
 * gRPC or the engine's HTTP API, with its address, API key and certificates.
 *
 * Reads the files that `ENGINE_TLS_CA`, `ENGINE_TLS_CERT` and `ENGINE_TLS_KEY` name, and connects to nothing. Rejects
 * with a `ConfigError` that names the variable of a file that cannot be read or used. From the first call until it is
 * closed, it reads the files again when they change, and `log` gets a warning if the new ones cannot be used.
 */
export async function engineTransport({ engine }: Pick<Config, 'engine'>, log: Log = () => {}): Promise<Transport> {
  const { transport, address, apiKey, tls, httpUrl } = engine
  if (transport === 'http' && httpUrl !== null) return httpApiTransport({ url: httpUrl, apiKey })
  if (tls === null) return grpcTransport({ address, apiKey, tls: null })
  // Decision 020: `node:fs` and `node:tls` are loaded only for certificates.
  const { readTls } = await import('./node/tls-files.ts')
  return grpcTransport({ address, apiKey, tls: await readTls(tls, log) })
}
