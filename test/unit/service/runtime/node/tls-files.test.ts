import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readTls } from '../../../../../src/service/runtime/node/tls-files.ts'
import { type Certificates, makeCertificates } from '../../../../support/certificates.ts'
import { test } from '../../../../support/fixtures.ts'

let own: Certificates
let other: Certificates

test.beforeAll(async () => {
  ;[own, other] = await Promise.all([makeCertificates({ intermediate: true }), makeCertificates()])
})

/** The file while it is being written. */
const half = (pem: string) => pem.slice(0, -100)

async function read(folder: string, files: { ca?: string; cert?: string; key?: string }) {
  const pathOf = async (name: string, text: string | undefined) => {
    const path = join(folder, `${crypto.randomUUID()}-${name}.pem`)
    if (text === undefined) return null
    await writeFile(path, text)
    return path
  }
  const [caPath, certPath, keyPath] = await Promise.all([
    pathOf('ca', files.ca),
    pathOf('cert', files.cert),
    pathOf('key', files.key),
  ])
  return readTls({ caPath, certPath, keyPath, serverName: null }, () => {})
}

test.for<[name: string, files: () => { ca?: string; cert?: string; key?: string }, issue: RegExp]>([
  ['an authority without a certificate', () => ({ ca: 'none' }), /ENGINE_TLS_CA does not contain a PEM cert/],
  [
    'half of the second authority',
    () => ({ ca: `${own.authority.cert}\n${half(other.authority.cert)}` }),
    /ENGINE_TLS_CA /,
  ],
  [
    'two authorities without a newline between them',
    () => ({ ca: own.authority.cert.trimEnd() + other.authority.cert }),
    /ENGINE_TLS_CA does not contain/,
  ],
  ['half of a chain', () => ({ ...own.client, cert: half(own.client.cert) }), /ENGINE_TLS_CERT does not contain/],
  [
    'a chain whose second certificate has only begun',
    () => ({ ...own.client, cert: `${other.client.cert}\n-----BEGIN CERTIFICATE----` }),
    /ENGINE_TLS_CERT /,
  ],
  ['half a key', () => ({ ...own.client, key: half(own.client.key) }), /ENGINE_TLS_KEY does not contain a PEM key/],
  ['another key', () => ({ ...own.client, key: other.client.key }), /ENGINE_TLS_KEY does not contain the key of/],
])('readTls: rejects %s', async ([, files, issue], { folder }) => {
  await expect(read(folder, files())).rejects.toThrow(issue)
})

test('readTls: accepts chains, several authorities, and a certificate and its key in one file', async ({ folder }) => {
  const both = [own.client.key, own.client.cert, own.client.key].join('\n')
  const files = { ca: `# ours\n${own.authority.cert}\n${other.authority.cert}`, cert: both, key: both }

  expect(await read(folder, files)).toMatchObject(files)
})
