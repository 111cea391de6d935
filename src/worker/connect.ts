import { readFile } from 'node:fs/promises'
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker'
import type { EngineConfig, EngineTls } from '../shared/config/engine.ts'
import { errorMessage } from '../shared/lib/error-message.ts'
import { versionOf, watchFiles } from '../shared/lib/watch-files.ts'

export interface EngineConnection {
  connection: NativeConnection
  close(): Promise<void>
}

/**
 * Connects the worker to the engine over gRPC. Rejects with the address and the reason. Until it is closed, `warn` is
 * called for each new version of a file with certificates: the SDK cannot change those of a connection.
 */
export async function connectToEngine(
  { address, apiKey, tls }: EngineConfig,
  warn: (message: string) => void,
): Promise<EngineConnection> {
  const files = await certificateFiles(tls)
  const options = { address, tls: tls === null ? null : await tlsOptions(tls), ...(apiKey !== null && { apiKey }) }
  const connection = await NativeConnection.connect(options).catch((cause: unknown) => {
    throw new Error(`Could not connect to the engine at ${address}: ${errorMessage(cause)}`, { cause })
  })
  const watches = files.map(({ variable, path, version }) =>
    watchFiles({
      paths: [path],
      version,
      read: async () => {},
      use: () =>
        warn(`${variable} names a file that has changed (${path}). Restart the worker: until then it uses the old one`),
    }),
  )
  return {
    connection,
    async close() {
      for (const stop of watches) stop()
      await connection.close()
    },
  }
}

async function certificateFiles(tls: EngineTls | null) {
  const named = [
    { variable: 'ENGINE_TLS_CA', path: tls?.caPath ?? null },
    { variable: 'ENGINE_TLS_CERT', path: tls?.certPath ?? null },
    { variable: 'ENGINE_TLS_KEY', path: tls?.keyPath ?? null },
  ]
  return Promise.all(
    named.flatMap(({ variable, path }) =>
      path === null ? [] : [versionOf([path]).then((version) => ({ variable, path, version }))],
    ),
  )
}

async function tlsOptions({
  caPath,
  certPath,
  keyPath,
  serverName,
}: EngineTls): Promise<NonNullable<NativeConnectionOptions['tls']>> {
  return {
    ...(serverName !== null && { serverNameOverride: serverName }),
    ...(caPath !== null && { serverRootCACertificate: await readFile(caPath) }),
    ...(certPath !== null &&
      keyPath !== null && { clientCertPair: { crt: await readFile(certPath), key: await readFile(keyPath) } }),
  }
}
