/** The certificates of the way to the engine, read from the files that the configuration names. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { type Config, ConfigError } from '../../config.ts'
import type { GrpcTls } from '../../engine/transport/grpc/options.ts'
import { systemErrorCode } from '../system-error-code.ts'

/** Throws a `ConfigError` that names the variable of what can't be read or used. */
export function readTls({ caPath, certPath, keyPath, serverName }: NonNullable<Config['engine']['tls']>): GrpcTls {
  const tls = {
    ...(caPath !== null && { ca: readPem('ENGINE_TLS_CA', caPath) }),
    ...(certPath !== null && { cert: readPem('ENGINE_TLS_CERT', certPath) }),
    ...(keyPath !== null && { key: readPem('ENGINE_TLS_KEY', keyPath) }),
  }
  refuseUnusable(tls)
  return { ...tls, ...(serverName !== null && { serverName }) }
}

/** Else each request would find it out, and not say which variable. */
function refuseUnusable({ ca, cert, key }: GrpcTls): void {
  // Node passes over an authority that is none.
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new ConfigError(['ENGINE_TLS_CA holds no PEM certificate'])
  try {
    createSecureContext({ ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) })
  } catch (error) {
    throw new ConfigError([
      `ENGINE_TLS_CERT and ENGINE_TLS_KEY hold no usable certificate and key (${systemErrorCode(error)})`,
    ])
  }
}

function readPem(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError([`${variable} names a file that can't be read (${systemErrorCode(error)})`])
  }
}
