import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { SERVICE_ENTRY } from '../../dev/servers/service.ts'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeCertificates } from '../support/certificates.ts'
import { test } from '../support/fixtures.ts'
import { NO_RESPONSE, startService } from '../support/service.ts'

let folder: string
let garbage: string
let authority: string
let demanding: TcpProxy
let cleanup: AsyncDisposableStack

test.beforeAll(async ({ folder: ownFolder, cleanup: stack }) => {
  cleanup = stack
  folder = ownFolder
  garbage = join(folder, 'garbage.pem')
  await writeFile(garbage, 'no certificate at all')
  const made = await makeCertificates()
  authority = join(folder, 'ca.pem')
  await writeFile(authority, made.authority.cert)
  const tls = {
    ...made.server,
    ca: made.authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: ['h2'],
  }
  demanding = await startTcpProxy(inject('engine').address, { tls })
  cleanup.defer(async () => void (await demanding.close()))
})

async function started(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const service = await startProcess({
    command: process.execPath,
    args: [SERVICE_ENTRY],
    env: { SERVICE_CATALOG_ID: 'any', SERVICE_PORT: '0', ...env },
  })
  const { code } = await service.ended
  return { code, output: service.output() }
}

/**
 * The first warning of a service about its engine, which by default requires a client certificate. A handshake that
 * takes longer than the first attempt is warned about after a later one.
 */
async function warned(env: Record<string, string>, address = demanding.address): Promise<string> {
  const service = await startService({ address, catalog: 'any', env, engine: 'disturbed' })
  cleanup.defer(async () => void (await service.kill()))
  const isAboutTls = env.ENGINE_TLS !== 'false'
  return await until(
    'it has tried its engine',
    () =>
      service.events.find(({ level, message }) => level === 'warn' && !(isAboutTls && message === NO_RESPONSE))
        ?.message,
  )
}

test('certificates: an unusable client certificate is reported before anything is served (failure 17)', async () => {
  const { code, output } = await started({ ENGINE_TLS_CERT: garbage, ENGINE_TLS_KEY: garbage })

  expect(code).toBe(1)
  expect(output).toContain('ENGINE_TLS_CERT does not contain a PEM certificate')
  expect(output).toContain('ENGINE_TLS_KEY does not contain a PEM key')
  expect(output).not.toContain('    at ')
})

test('certificates: an invalid authority is reported before anything is served (threat 75) (failure 17)', async () => {
  const joined = join(folder, 'joined.pem')
  const pem = (await readFile(authority, 'utf8')).trimEnd()
  await writeFile(joined, pem + pem) // without a newline between them

  for (const path of [garbage, joined]) {
    const { code, output } = await started({ ENGINE_TLS_CA: path })

    expect(code).toBe(1)
    expect(output).toContain('ENGINE_TLS_CA does not contain a PEM certificate')
  }
})

test('certificates: of a handshake that fails the log says why, and which variables to look at (failure 16)', async () => {
  const said = await Promise.all([
    warned({ ENGINE_TLS: 'true', ENGINE_TLS_SERVER_NAME: 'localhost' }),
    warned({ ENGINE_TLS_CA: authority, ENGINE_TLS_SERVER_NAME: 'another' }),
    warned({ ENGINE_TLS_CA: authority, ENGINE_TLS_SERVER_NAME: 'localhost' }),
    warned({ ENGINE_TLS: 'false' }),
  ])

  const failed = (reason: string) =>
    `cannot use the engine yet: the TLS handshake failed (${reason}); check ENGINE_TLS_CA, ENGINE_TLS_SERVER_NAME and ENGINE_TLS_CERT`
  expect(said).toEqual([
    failed('self-signed certificate in certificate chain'),
    failed("Hostname/IP does not match certificate's altnames"),
    failed('tlsv13 alert certificate required'),
    NO_RESPONSE,
  ])
})

test('certificates: with TLS to an engine without TLS the warning names ENGINE_TLS', async () => {
  const said = await warned({ ENGINE_TLS: 'true', ENGINE_TLS_SERVER_NAME: 'localhost' }, inject('engine').address)

  expect(said).toContain('(wrong version number); the engine does not seem to use TLS: check ENGINE_TLS, which')
})
