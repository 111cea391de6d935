import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProcess } from '../support/process.ts'

const ENTRY = fileURLToPath(new URL('../../src/runtime/node.ts', import.meta.url))
let folder: string
let garbage: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-pem-'))
  garbage = join(folder, 'garbage.pem')
  await writeFile(garbage, 'no certificate at all')
})

afterAll(() => rm(folder, { recursive: true }))

async function started(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const service = await startProcess({
    command: process.execPath,
    args: [ENTRY],
    env: { SERVICE_CATALOG_ID: 'any', SERVICE_PORT: '0', ...env },
  })
  const { code } = await service.ended
  return { code, output: service.output() }
}

test('certificates: a client’s that can’t be used is told before anything is served', async () => {
  const { code, output } = await started({ ENGINE_TLS_CERT: garbage, ENGINE_TLS_KEY: garbage })

  expect(code).toBe(1)
  expect(output).toContain('ENGINE_TLS_CERT and ENGINE_TLS_KEY hold no usable certificate and key')
  expect(output).not.toContain('    at ')
})

test('certificates: an authority that is none is told before anything is served', async () => {
  const { code, output } = await started({ ENGINE_TLS_CA: garbage })

  expect(code).toBe(1)
  expect(output).toContain('ENGINE_TLS_CA holds no PEM certificate')
})
