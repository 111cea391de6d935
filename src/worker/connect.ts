import { readFile } from 'node:fs/promises'
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker'
import type { EngineConfig, EngineTls } from '../config/engine.ts'

/** The worker's own connection to the engine. */
export async function connect({ address, apiKey, tls }: EngineConfig): Promise<NativeConnection> {
  const options = { address, tls: tls === null ? null : await tlsOptions(tls), ...(apiKey !== null && { apiKey }) }
  try {
    return await NativeConnection.connect(options)
  } catch (cause) {
    throw new Error(`The engine at ${address} can't be reached: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
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
