/** The package as its users get it: packed, and installed alone into an empty folder. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { outputOf } from '../support/component.ts'
import { bin, DENO_PERMISSIONS, processOf, workerdOf } from '../support/entries.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const INSTALL_MS = 180_000

let folder: string
const inFolder = (command: string, ...args: string[]) => outputOf({ command, args, cwd: folder, env: process.env })
const node = (...args: string[]) => inFolder(process.execPath, ...args)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-package-'))
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  await writeFile(join(ROOT, 'dist/server-of-yesterday.js'), '')
  await outputOf({ command: 'npm', args: ['pack', '--pack-destination', folder], cwd: ROOT, env: process.env })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await inFolder('npm', 'install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`)
}, INSTALL_MS)

afterAll(() => rm(folder, { recursive: true, force: true }))

test('the package: brings no native module, no worker, no test and no older build along', async () => {
  const installed = await readdir(join(folder, 'node_modules'), { recursive: true })

  expect(installed.filter((name) => name.endsWith('.node'))).toEqual([])
  expect(installed.filter((name) => /^@temporalio\/(worker|workflow|core-bridge|testing)$/.test(name))).toEqual([])
  expect(installed.filter((name) => /^portico\/(src|test|node_modules|dist\/server-of-yesterday)\b/.test(name))).toEqual([])
})

test('npx portico: tells how it is used, and its version', async () => {
  expect(await inFolder('npx', '--no-install', 'portico', '--help')).toContain('SERVICE_CATALOG_ID')
  expect((await inFolder('npx', '--no-install', 'portico', '--version')).trim().split('\n').at(-1)).toMatch(/^\d+\.\d+\.\d+$/)
})

test('npx portico: starts the service, or says what is wrong', async () => {
  const service = await processOf(join(folder, 'node_modules/.bin/portico'))(environment())

  expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: 'ok' })
  expect(await (await fetch(`${service.url}/ready`)).json()).toMatchObject({ engine: 'reachable' })
  await service.stop()
  expect(await service.ended).toMatchObject({ code: 0 })
  await expect(inFolder('npx', '--no-install', 'portico')).rejects.toThrow('SERVICE_CATALOG_ID is required')
})

test('portico/node, bun, deno: start the service when they are imported', async () => {
  await writeFile(join(folder, 'start.mjs'), "await import('portico/' + process.env.ENTRY)")
  const runtimes = [
    ['node', process.execPath],
    ['bun', bin('bun')],
    ['deno', bin('deno'), 'run', ...DENO_PERMISSIONS, '--allow-read'],
  ] as const

  for (const [entry, command, ...args] of runtimes) {
    const service = await processOf(command, ...args, join(folder, 'start.mjs'))({ ...environment(), ENTRY: entry })
    expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: 'ok' })
    await service.stop()
  }
})

test('portico: its handler is mounted in a server of one’s own', async () => {
  await writeFile(
    join(folder, 'embed.mjs'),
    `import { createPortico, grpcTransport, httpApiTransport, parseConfig } from 'portico'
     const config = parseConfig({ SERVICE_CATALOG_ID: 'orders', SERVICE_API_AUTH_TOKEN: 'token' }, { binds: false })
     for (const transport of [grpcTransport(config.engine), httpApiTransport({ url: 'http://127.0.0.1:1', apiKey: null })]) {
       const portico = createPortico({ config, transport, log() {} })
       console.log((await portico.fetch(new Request('http://x/health'))).status, (await portico.fetch(new Request('http://x/workflow/catalog'))).status)
       await portico.close()
     }`,
  )

  expect((await node('embed.mjs')).trim()).toBe('200 401\n200 401')
})

test('portico/workerd: is a Worker', async () => {
  const script = `import worker from 'portico/workerd'; console.log((await worker.fetch(new Request('http://x/health'), {})).status)`

  expect(await node('--input-type=module', '--eval', script)).toMatch(/SERVICE_CATALOG_ID is required.*\n500$/s)
})

test('portico/workerd: is mounted in a Worker of one’s own', async () => {
  await writeFile(
    join(folder, 'mine.mjs'),
    `import portico from 'portico/workerd'
     export default { fetch: (request, env) => (request.url.endsWith('/mine') ? new Response('mine') : portico.fetch(request, env)) }`,
  )
  await inFolder(bin('rolldown'), 'mine.mjs', '--platform', 'neutral', '--file', 'mine.bundle.js')
  const { SERVICE_PORT: _, ...env } = environment()
  const service = await workerdOf(join(folder, 'mine.bundle.js'))({ ...env, SERVICE_ALLOW_ANONYMOUS: 'true' })

  const statuses = await Promise.all(
    ['/mine', '/health', '/workflow/nobody/status'].map(async (path) => (await fetch(`${service.url}${path}`)).status),
  )
  await service.stop()

  expect(statuses).toEqual([200, 200, 404])
})

test('portico/worker: needs its peers, and works beside them; types are found with node16 and bundler', async () => {
  const script = `import { defineCatalog, runWorker } from 'portico/worker'; console.log(typeof runWorker, defineCatalog({ greet: {} }).workflows.length)`
  await expect(node('--input-type=module', '--eval', script)).rejects.toThrow('ERR_MODULE_NOT_FOUND')

  for (const name of ['@temporalio/worker', '@temporalio/workflow', '@types/node']) {
    await mkdir(join(folder, 'node_modules', name, '..'), { recursive: true })
    const link = join(folder, 'node_modules', name)
    if (!existsSync(link)) await symlink(join(ROOT, 'node_modules', name), link)
  }

  expect((await node('--input-type=module', '--eval', script)).trim()).toBe('function 1')
  await writeFile(join(folder, 'use.ts'), USE)
  for (const options of [
    ['--module', 'node16', '--moduleResolution', 'node16'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ]) {
    const args = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2023', '--lib', 'es2024,dom,dom.iterable', '--types', 'node']
    expect(await inFolder(bin('tsc'), ...args, ...options, 'use.ts')).toBe('')
  }
}, 60_000)

const USE = `
import { createPortico, httpApiTransport, parseConfig, type Config, type Portico } from 'portico'
import worker from 'portico/workerd'
import { defineCatalog } from 'portico/worker'
import 'portico/node'
import 'portico/bun'
import 'portico/deno'

const config: Config = parseConfig({}, { binds: false })
const portico: Portico = createPortico({ config, transport: httpApiTransport({ url: '', apiKey: null }), log() {} })
export const answer: Promise<Response> = portico.fetch(new Request('http://x'))
export const other: Promise<Response> = worker.fetch(new Request('http://x'), {})
export const names: string[] = defineCatalog({ greet: {} }).workflows.map(({ name }) => name)
// @ts-expect-error it is no number
export const wrong: number = portico.fetch
`

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', SERVICE_CATALOG_ID: 'package', SERVICE_PORT: '0', ENGINE_ADDRESS: inject('engine').address }
}
