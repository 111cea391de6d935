/** Reads the certificates for the connection to the engine. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { type Config, ConfigError } from '../../config.ts'
import type { GrpcTls } from '../../engine/transport/grpc/options.ts'
import { systemErrorCode } from '../system-error-code.ts'

/** Throws a `ConfigError` that names the variable of a file that cannot be read or used. */
export function readTls({ caPath, certPath, keyPath, serverName }: NonNullable<Config['engine']['tls']>): GrpcTls {
  const tls = {
    ...(caPath !== null && { ca: readPem('ENGINE_TLS_CA', caPath) }),
    ...(certPath !== null && { cert: readPem('ENGINE_TLS_CERT', certPath) }),
    ...(keyPath !== null && { key: readPem('ENGINE_TLS_KEY', keyPath) }),
  }
  assertUsable(tls)
  return { ...tls, ...(serverName !== null && { serverName }) }
}

/** Checks the certificates early: otherwise every request would fail, without naming the variable. */
function assertUsable({ ca, cert, key }: GrpcTls): void {
  // Node ignores a file without a certificate.
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new ConfigError(['ENGINE_TLS_CA does not contain a PEM certificate'])
  try {
    createSecureContext({ ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) })
  } catch (error) {
    throw new ConfigError([
      `ENGINE_TLS_CERT and ENGINE_TLS_KEY do not contain a usable certificate and key (${systemErrorCode(error)})`,
    ])
  }
}

function readPem(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError([`${variable} names a file that cannot be read (${systemErrorCode(error)})`])
  }
}
