/** The package, packed and installed into an empty folder. */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { hasExited, startProcess } from '../../dev/servers/process.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { cacheFolder } from '../../src/cli/dev/servers/cache-folder.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { generalDocument } from '../../src/service/openapi/general-document.ts'
import { makeApi } from '../support/api.ts'
import { processOf, workerdOf } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { relativeLinks } from '../support/markdown.ts'
import { ensureTarball } from '../support/package.ts'
import { readiness } from '../support/readiness.ts'

const INSTALL_MS = 180_000

let folder: string
const inFolder = (command: string, ...args: string[]) => runCommand({ command, args, cwd: folder, env: process.env })
const node = (...args: string[]) => inFolder(process.execPath, ...args)

test.beforeAll(async ({ folder: ownFolder }) => {
  folder = ownFolder
  const tarball = await ensureTarball()
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await inFolder('npm', 'install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', tarball)
}, INSTALL_MS)

test('the package: native modules, workers, tests and older builds are not included (threat 103)', async () => {
  const installed = await readdir(join(folder, 'node_modules'), { recursive: true })

  expect(installed.filter((name) => name.endsWith('.node'))).toEqual([])
  expect(installed.filter((name) => /^@temporalio\/(worker|workflow|core-bridge|testing)$/.test(name))).toEqual([])
  expect(
    installed.filter((name) => /^portico\/(src|test|node_modules|dist\/server-of-yesterday)\b/.test(name)),
  ).toEqual([])
})

test('the package: an SBOM and the licenses of the packages in its bundles are included', async () => {
  const installed = join(folder, 'node_modules/portico')
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const sbom = JSON.parse(await readFile(join(installed, 'dist/sbom.cdx.json'), 'utf8'))

  expect(sbom.metadata.component).toMatchObject({ name: 'portico', version })
  expect(await readFile(join(installed, 'dist/THIRD-PARTY-NOTICES'), 'utf8')).toContain('\nhono 4.')
})

test('npx portico: --help and --version print the usage and the version', async () => {
  expect(await inFolder('npx', '--no-install', 'portico', '--help')).toContain('SERVICE_CATALOG_ID')
  expect(await inFolder('npx', '--no-install', 'portico', '--version')).toMatch(/^\d+\.\d+\.\d+$/m)
})

test('npx portico: an unknown command is rejected', async () => {
  await expect(inFolder('npx', '--no-install', 'portico', 'archieve')).rejects.toThrow(
    "error: unknown command 'archieve'\n(Did you mean archive?)",
  )
})

test('npx portico: the service starts, or its configuration errors are printed', async () => {
  const service = await processOf(join(folder, 'node_modules/.bin/portico'))(environment())

  expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: 'ok' })
  const ready = async () => (await (await fetch(`${service.url}/ready`)).json()).engine === 'reachable'
  await until('the engine is reachable', ready)
  await service.stop()
  expect(await service.ended).toMatchObject({ code: 0 })
  await expect(inFolder('npx', '--no-install', 'portico')).rejects.toThrow('SERVICE_CATALOG_ID is required')
})

test('npx portico dev: it starts an engine and an API that answers, and Ctrl-C leaves nothing running', async () => {
  const port = await freePort()
  // The Temporal CLI must not be downloaded once more.
  const cache = await mkdtemp(join(folder, 'cache-'))
  await symlink(cacheFolder(), join(cache, 'portico'))
  const dev = await startProcess({
    command: 'npx',
    args: ['--no-install', 'portico', 'dev', '--port', `${port}`],
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: cache },
  })
  await until('the service lists runs', async () => (await fetch(`http://127.0.0.1:${port}/workflow/runs`)).ok, {
    timeoutMs: 120_000,
    signal: exitSignal(dev, 'portico dev'),
  })
  await until('it says how to start a worker', () => dev.output().includes('node worker.ts'))
  const answer = await readiness(makeApi({ url: `http://127.0.0.1:${port}` }))
  const catalog = await fetch(`http://127.0.0.1:${port}/workflow/catalog`)
  const pids = [...dev.output().matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid))

  process.kill(-dev.pid, 'SIGINT')
  await dev.ended

  expect([answer.status, catalog.status]).toEqual([200, 404])
  expect(pids).toHaveLength(2)
  await until('all programs have exited', () => pids.every(hasExited))
  expect(dev.output()).toContain('Stopped.')
})

test('portico/node, bun, deno: importing one starts the service', async () => {
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

test('portico/openapi.json: is the document without workflows', async () => {
  await writeFile(
    join(folder, 'document.mjs'),
    "import document from 'portico/openapi.json' with { type: 'json' }\nconsole.log(JSON.stringify(document))",
  )

  expect(JSON.parse(await node('document.mjs'))).toEqual(JSON.parse(JSON.stringify(await generalDocument())))
})

test('portico: a server can mount its handler', async () => {
  await writeFile(
    join(folder, 'embed.mjs'),
    `import { createPortico, grpcTransport, httpApiTransport, parseConfig } from 'portico'
     const config = parseConfig({ SERVICE_CATALOG_ID: 'orders', SERVICE_API_AUTH_TOKEN: 'token', SERVICE_DOCS_ON: 'true' }, { binds: false })
     for (const transport of [grpcTransport(config.engine), httpApiTransport({ url: 'http://127.0.0.1:1', apiKey: null })]) {
       const portico = createPortico({ config, transport, log() {} })
       const status = async (path) => (await portico.fetch(new Request('http://x' + path))).status
       console.log(await status('/health'), await status('/workflow/catalog'), await status('/docs/swagger-ui.css'))
       await portico.close()
     }`,
  )

  expect((await node('embed.mjs')).trim()).toBe('200 401 200\n200 401 200')
})

test('portico/workerd: the default export is a Worker', async () => {
  // The error is logged to stderr, which a pipe of its own may deliver later.
  const script = `import worker from 'portico/workerd'
    const { status } = await worker.fetch(new Request('http://x/health'), {})
    console.error(status)`

  expect(await node('--input-type=module', '--eval', script)).toMatch(/SERVICE_CATALOG_ID is required.*\n500$/s)
})

test('portico/workerd: a Worker can mount its handler', async () => {
  await writeFile(
    join(folder, 'mine.mjs'),
    `import portico from 'portico/workerd'
     export default { fetch: (request, env) => (request.url.endsWith('/mine') ? new Response('mine') : portico.fetch(request, env)) }`,
  )
  await inFolder(bin('rolldown'), 'mine.mjs', '--platform', 'neutral', '--file', 'mine.bundle.js')
  const { SERVICE_PORT: _, ...env } = environment()
  const others = { assets: join(folder, 'node_modules/portico/dist/workerd-assets') }
  const settings = { ...env, SERVICE_ALLOW_ANONYMOUS: 'true', SERVICE_DOCS_ON: 'true' }
  const service = await workerdOf(join(folder, 'mine.bundle.js'), others)(settings)
  await readiness(makeApi({ url: service.url }))

  const statuses = await Promise.all(
    ['/mine', '/health', '/workflow/nobody/status', '/docs'].map(
      async (path) => (await fetch(`${service.url}${path}`)).status,
    ),
  )
  await service.stop()

  expect(statuses).toEqual([200, 200, 404, 200])
})

test('portico/worker: missing peer dependencies are reported', async () => {
  const script = `import { defineCatalog, runWorker } from 'portico/worker'`

  await expect(node('--input-type=module', '--eval', script)).rejects.toThrow('ERR_MODULE_NOT_FOUND')
  await expect(inFolder('npx', '--no-install', 'portico', 'archive', 'orders')).rejects.toThrow(
    'portico archive requires @temporalio/worker and @temporalio/workflow',
  )
})

test('portico/node, bun, deno: TypeScript finds their types', async () => {
  await writeFile(join(folder, 'use.ts'), "import 'portico/node'\nimport 'portico/bun'\nimport 'portico/deno'\n")
  const options = [
    '--strict',
    '--noEmit',
    '--target',
    'es2023',
    '--lib',
    'es2024,dom',
    '--noUncheckedSideEffectImports',
    '--types',
    '*',
  ]

  expect(await inFolder(bin('tsc'), '--singleThreaded', ...options, '--module', 'node16', 'use.ts')).toBe('')
})

test('the package: the files that its documents link to are included', async () => {
  const installed = join(folder, 'node_modules/portico')
  const pages = (await readdir(installed, { recursive: true })).filter(
    (name) => /(?:\.md|^llms\.txt)$/.test(name) && !name.includes('node_modules/'),
  )
  const links = await Promise.all(
    pages.map(async (page) =>
      relativeLinks(await readFile(join(installed, page), 'utf8')).map((link) => ({ page, link })),
    ),
  )
  const exists = (page: string, link: string) =>
    existsSync(join(installed, page, link.startsWith('#') ? '' : '..', link.replace(/#.*/, '')))

  expect(pages).toEqual(expect.arrayContaining(['README.md', 'SKILL.md', 'llms.txt', 'docs/errors.md']))
  expect(links.flat().map(({ link }) => link)).toContain('examples/')
  expect(links.flat().filter(({ page, link }) => !exists(page, link))).toEqual([])
})

test('the package: package.json names the repository', async () => {
  const { repository, homepage, bugs, keywords } = JSON.parse(
    await readFile(join(folder, 'node_modules/portico/package.json'), 'utf8'),
  )

  expect(repository.url).toMatch(/^git\+https:.*\.git$/)
  expect([typeof homepage, typeof bugs.url]).toEqual(['string', 'string'])
  expect(keywords).toContain('temporal')
})

function environment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    SERVICE_CATALOG_ID: 'package',
    SERVICE_PORT: '0',
    ENGINE_ADDRESS: inject('engine').address,
  }
}
