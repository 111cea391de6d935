/** The files with certificates for the engine are replaced while the service runs, as secrets that are mounted are. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { type Certificates, makeCertificates } from '../../test/support/certificates.ts'
import { FROM_SOURCE, GRPC_RUNTIMES, type ServedEntry } from '../../test/support/entries.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test } from '../../test/support/fixtures.ts'
import { promisedError, promisedMs } from '../../test/support/promises.ts'
import { heldBy, untilHeldAsBefore } from './held.ts'
import { idleClock } from './idle-clock.ts'
import { whenInTime } from './when-in-time.ts'

const USABLE_MS = promisedMs(16, '15 s')
const KEPT = 'the new certificates for the engine cannot be used; the ones before them are kept'
const USED = 'the new certificates for the engine are used for the next connection'

interface Files {
  ca: string
  cert: string
  key: string
}

const filesOf = ({ authority, client }: Certificates): Files => ({ ca: authority.cert, ...client })

const engineOf = ({ authority, server }: Certificates) => ({ ...server, ca: authority.cert })

/** A folder as Kubernetes mounts a secret: its files are links into a folder that a link names. */
async function mountSecret(folder: string, first: Files) {
  let version = 0
  const replace = async (files: Files) => {
    const data = join(folder, `..${++version}`)
    await mkdir(data, { recursive: true })
    for (const [name, text] of Object.entries(files)) await writeFile(join(data, `${name}.pem`), text)
    await symlink(data, join(folder, '..new'))
    await rename(join(folder, '..new'), join(folder, '..data'))
  }
  await replace(first)
  for (const name of ['ca', 'cert', 'key']) await symlink(join('..data', `${name}.pem`), join(folder, `${name}.pem`))
  return replace
}

describe.for(GRPC_RUNTIMES)('certificates are renewed: %s', (runtime) => {
  let first: Certificates
  let second: Certificates
  let proxy: TcpProxy
  let start: (folder: string) => Promise<{ service: ServedEntry; api: Api }>
  let replace: (files: Files) => Promise<void>
  let folder: string
  let service: ServedEntry
  let api: Api
  let target: string

  test.beforeAll(async ({ engine, worker, folder: ownFolder, cleanup }) => {
    ;[first, second] = await Promise.all([makeCertificates(), makeCertificates({ intermediate: true })])
    const tls = { ...engineOf(first), ALPNProtocols: ['h2'], requestCert: true, rejectUnauthorized: true }
    proxy = await startTcpProxy(engine.address, { tls })
    cleanup.defer(() => proxy.close())
    start = async (secret) => {
      const started = await FROM_SOURCE[runtime]({
        SERVICE_CATALOG_ID: worker.taskQueue,
        ENGINE_ADDRESS: proxy.address,
        ENGINE_TLS_CA: join(secret, 'ca.pem'),
        ENGINE_TLS_CERT: join(secret, 'cert.pem'),
        ENGINE_TLS_KEY: join(secret, 'key.pem'),
        ENGINE_TLS_SERVER_NAME: 'localhost',
      })
      cleanup.defer(() => started.stop())
      return { service: started, api: makeApi({ url: started.url, engine: 'disturbed' }) }
    }
    folder = join(ownFolder, runtime)
    await mkdir(folder)
    replace = await mountSecret(folder, filesOf(first))
    ;({ service, api } = await start(folder))
    target = await startFirstRun(api, 'neverEnds')
  })

  const logged = (line: string) => service.output().split(line).length - 1
  const status = async () => (await api.get(`${target}/status`)).status

  /** Replaces the files, and waits until the service has logged `line` about them. Returns how long that took. */
  async function replaced(files: Files, line: string): Promise<number> {
    const before = logged(line)
    await replace(files)
    const sinceThen = idleClock(service)
    return until(`it logs ${line}`, () => {
      const passedMs = sinceThen()
      return logged(line) > before && passedMs
    })
  }

  test('new certificates of a new authority are used for the next connection, and waits survive (failure 14)', async () => {
    const workflowId = crypto.randomUUID()
    const waiting = api.run('waitForSignal', null, { workflowId, timeout: '10m' })
    await until('the run exists', async () => (await api.get(`${workflowId}/status`)).status === 200)
    // One for the request above, one for the poll.
    await until('both connections are open', () => proxy.open() === 2)
    const held = await heldBy(service, proxy)
    const accepted = proxy.accepted()

    const readAfterMs = await replaced(filesOf(second), USED)
    const keptStatus = await status()
    const acceptedBefore = proxy.accepted()
    proxy.renew(engineOf(second))
    proxy.cut()
    const sinceThen = idleClock(service)
    const usableAfterMs = await until('the engine is used', async () => {
      const sentAfterMs = sinceThen()
      return (await status()) === 200 && sentAfterMs
    })
    await untilHeldAsBefore(held, service, proxy)
    await whenInTime('it is signaled', () => api.post(`${workflowId}/signal/finish`, { payload: 'done' }))

    expect([keptStatus, acceptedBefore]).toEqual([200, accepted])
    expect(readAfterMs).toBeLessThan(promisedMs(14, '5 s'))
    expect(usableAfterMs).toBeLessThan(USABLE_MS)
    expect((await waiting).body.output).toEqual(['done'])
  })

  test('files that do not fit together are kept out, and a warning names them (failure 15)', async () => {
    const { ca, cert, key } = filesOf(second)
    const named = (name: keyof Files) => `ENGINE_TLS_${name.toUpperCase()} (${join(folder, `${name}.pem`)})`
    const half = (pem: string) => pem.slice(0, pem.length / 2)

    await replaced(
      { ca, cert: first.client.cert, key },
      `${named('key')} does not contain the key of the certificate in ${named('cert')}`,
    )
    await replaced({ ca, cert: half(first.client.cert), key }, `${named('cert')} does not contain`)
    await replaced({ ca, cert, key: half(key) }, `${named('key')} does not contain a PEM key`)
    await replaced({ ca: half(ca), cert, key }, `${named('ca')} does not contain`)
    await rm(join(folder, '..data', 'ca.pem'))
    await until(
      'the missing file is noticed',
      () => logged(`${named('ca')} names a file that cannot be read (ENOENT)`) > 0,
    )
    const keptStatus = (await whenInTime('a status is read', () => api.get(`${target}/status`))).status
    const correctedAfterMs = await replaced({ ca: `${ca}\n${first.authority.cert}`, cert, key }, USED)
    proxy.cut()

    expect(keptStatus).toBe(200)
    expect(correctedAfterMs).toBeLessThan(promisedMs(15, '5 s'))
    expect([logged(KEPT), logged('"issues":["ENGINE_TLS_')]).toEqual([5, 5])
    expect((await whenInTime('a status is read', () => api.get(`${target}/status`))).status).toBe(200)
  })

  test('after a wrong authority at the start the right one is used (failure 16)', async () => {
    const late = join(folder, 'late')
    await mkdir(late)
    const correct = await mountSecret(late, { ...filesOf(second), ca: first.authority.cert })
    const mistaken = await start(late)
    await until('it warns', () => mistaken.service.output().includes('the TLS handshake failed'))

    const { status } = await mistaken.api.call('GET', '/ready')
    await correct(filesOf(second))
    const sinceThen = idleClock(mistaken.service)
    const usableAfterMs = await until('the engine is used', async () => {
      const sentAfterMs = sinceThen()
      return (await mistaken.api.call('GET', '/ready')).status === 200 && sentAfterMs
    })

    expect([status]).toEqual(promisedError(16, '503'))
    expect(usableAfterMs).toBeLessThan(USABLE_MS)
  })
})
