import { readFile } from 'node:fs/promises'
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker'
import type { EngineConfig, EngineTls } from '../config/engine.ts'
import { errorMessage } from '../lib/error-message.ts'

/** Connects the worker to the engine over gRPC. Rejects with the address and the reason. */
export async function connect({ address, apiKey, tls }: EngineConfig): Promise<NativeConnection> {
  const options = { address, tls: tls === null ? null : await tlsOptions(tls), ...(apiKey !== null && { apiKey }) }
  try {
    return await NativeConnection.connect(options)
  } catch (cause) {
    throw new Error(`Could not connect to the engine at ${address}: ${errorMessage(cause)}`, { cause })
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
