/** Reads the certificates for the connection to the engine, and reads them again whenever their files change. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Log } from '../../../log.ts'
import { type Config, ConfigError } from '../../../shared/config.ts'
import { fileError, versionOf, watchFiles } from '../../../shared/lib/watch-files.ts'
import type { Certificates, GrpcTls } from '../../engine/transport/grpc/options.ts'
import { systemErrorCode } from '../system-error-code.ts'

type TlsFiles = NonNullable<Config['engine']['tls']>

/** Rejects with a `ConfigError` that names the variable of a file that cannot be read or used. */
export async function readTls(files: TlsFiles, log: Log): Promise<GrpcTls> {
  const paths = [files.caPath, files.certPath, files.keyPath].filter((path) => path !== null)
  const version = await versionOf(paths)
  const certificates = await readCertificates(files)
  return {
    ...certificates,
    ...(files.serverName !== null && { serverName: files.serverName }),
    ...(paths.length > 0 && {
      watch: (use) =>
        watchFiles({
          paths,
          version,
          read: () => readCertificates(files).catch(toConfigError),
          use: (renewed) => {
            if (renewed instanceof ConfigError) return warn(renewed, files, log)
            use(renewed)
            log('info', 'the new certificates for the engine are used for the next connection')
          },
        }),
    }),
  }
}

/** Unlike an error at the start, it has the paths: who replaces a file may not know the variables. */
function warn({ issues }: ConfigError, { caPath, certPath, keyPath }: TlsFiles, log: Log): void {
  const paths = new Map([
    ['ENGINE_TLS_CA', caPath],
    ['ENGINE_TLS_CERT', certPath],
    ['ENGINE_TLS_KEY', keyPath],
  ])
  log('warn', 'the new certificates for the engine cannot be used; the ones before them are kept', {
    issues: issues.map((issue) =>
      issue.replace(/\bENGINE_TLS_\w+/g, (variable) => `${variable} (${paths.get(variable)})`),
    ),
  })
}

function toConfigError(error: unknown): ConfigError {
  return error instanceof ConfigError ? error : new ConfigError([String(error)])
}

async function readCertificates({ caPath, certPath, keyPath }: TlsFiles): Promise<Certificates> {
  const [ca, cert, key] = await Promise.all([
    readPem('ENGINE_TLS_CA', caPath),
    readPem('ENGINE_TLS_CERT', certPath),
    readPem('ENGINE_TLS_KEY', keyPath),
  ])
  const certificates = { ...(ca !== null && { ca }), ...(cert !== null && { cert }), ...(key !== null && { key }) }
  assertUsable(certificates)
  return certificates
}

async function readPem(variable: string, path: string | null): Promise<string | null> {
  if (path === null) return null
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError([`${variable} names a file that cannot be read (${fileError(error)})`])
  }
}

/** Checks the certificates early: otherwise every request would fail, without naming the variable. */
function assertUsable({ ca, cert, key }: Certificates): void {
  const issues = [
    ...(ca === undefined ? [] : issuesOf('ENGINE_TLS_CA', 'a PEM certificate', () => parseCertificates(ca))),
    ...(cert === undefined ? [] : issuesOf('ENGINE_TLS_CERT', 'a PEM certificate', () => parseCertificates(cert))),
    ...(key === undefined ? [] : issuesOf('ENGINE_TLS_KEY', 'a PEM key', () => createPrivateKey(key))),
  ]
  if (issues.length > 0) throw new ConfigError(issues)
  if (cert !== undefined && key !== undefined) assertPair(cert, key)
}

// Deno's `createSecureContext` accepts half a file and a key of another certificate.
function assertPair(cert: string, key: string): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new ConfigError(['ENGINE_TLS_KEY does not contain the key of the certificate in ENGINE_TLS_CERT'])
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new ConfigError([
      `ENGINE_TLS_CERT and ENGINE_TLS_KEY do not contain a usable certificate and key (${systemErrorCode(error)})`,
    ])
  }
}

function issuesOf(variable: string, content: string, parse: () => unknown): string[] {
  try {
    parse()
    return []
  } catch (error) {
    return [`${variable} does not contain ${content} (${systemErrorCode(error)})`]
  }
}

/**
 * Node itself ignores what follows the first certificate, and a file without one. A certificate begins with a line of
 * its own: if it follows another in the same line, as in files joined without a newline, OpenSSL reads neither.
 */
function parseCertificates(pem: string): X509Certificate[] {
  const certificates = pem.split(/^(?=-----BEGIN)/m).filter((part) => part.startsWith('-----BEGIN CERTIFICATE'))
  if (certificates.length === 0) throw new Error('no certificate')
  return certificates.map((part) => new X509Certificate(part))
}
