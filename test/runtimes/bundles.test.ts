/** What the bundles weigh, and what they must not hold. */
import { readdir, readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { beforeAll, expect, test } from 'vitest'
import { withoutMcp } from '../../dev/build/without-mcp.ts'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import configs from '../../rolldown.config.ts'
import { CONSOLE_FILES, readConsoleFile } from '../../src/service/fronts/console/files.ts'
import { DOCS_FILES, readDocsFile } from '../../src/service/fronts/docs/files.ts'

let folder: string
let workerd: Buffer
let servers: Map<string, Buffer>

beforeAll(async () => {
  folder = await ensureBundles()
  workerd = await readFile(join(folder, 'workerd.js'))
  const names = (await readdir(folder)).filter((name) => /^(node|bun|deno|server-.*)\.js$/.test(name))
  servers = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)))
})

test('dist/workerd.js: is one file of at most 1.25 MB, 352 KiB gzipped', () => {
  expect(workerd.length).toBeLessThanOrEqual(1_250_000)
  expect(gzipSync(workerd).length).toBeLessThanOrEqual(352 * 1024)
  expect(importsOf(workerd)).toEqual([])
})

test('dist/workerd.js: the front for agents takes at most 43 kB of it', async () => {
  const config = configs.find(({ input }) => JSON.stringify(input).includes('workerd'))
  const bundle = await rolldown({ ...config, plugins: [withoutMcp(), config?.plugins] })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  await bundle.close()

  expect(workerd.includes('tasks/cancel')).toBe(true)
  expect(output[0].code).not.toContain('tasks/cancel')
  expect(workerd.length - Buffer.byteLength(output[0].code)).toBeLessThanOrEqual(43_000)
})

test('dist/workerd.js: holds no gRPC and no Redis over TCP', () => {
  expect(wordsIn(workerd, /grpc-status-details-bin|http2\.connect|@grpc\/|ClusterAllFailedError/)).toEqual([])
})

test('dist/workerd.js: holds no protobufjs', () => {
  expect(wordsIn(workerd, PROTOBUFJS)).toEqual([])
})

test('dist/node.js, bun.js, deno.js: over HTTP no protobufjs is loaded', () => {
  const overHttp = loadedWith('server-messages.js')
  const withWords = (words: RegExp) =>
    overHttp.filter((name) => wordsIn(servers.get(name) ?? Buffer.alloc(0), words).length > 0)

  expect(wordsIn(Buffer.concat([...servers.values()]), PROTOBUFJS)).toHaveLength(1)
  expect(withWords(/system-info/)).toHaveLength(1)
  expect(withWords(PROTOBUFJS)).toEqual([])
})

test('dist/bun.js, deno.js: begin without any part of Node, which takes Deno as long as its own start', () => {
  const begun = ['bun.js', 'deno.js']
    .flatMap((entry) => loadedWith(entry))
    .map((name) => servers.get(name) ?? Buffer.alloc(0))

  expect(begun.length).toBeGreaterThan(4)
  expect(begun.flatMap(staticImportsOf).filter((name) => isBuiltin(name))).toEqual([])
})

test('dist/node.js, bun.js, deno.js: begin without the front for agents, which is a chunk of its own', () => {
  const begun = new Set(['node.js', 'bun.js', 'deno.js'].flatMap((entry) => loadedWith(entry)))
  const ofAgents = [...servers].filter(([, code]) => code.includes('tasks/cancel')).map(([name]) => name)

  expect(ofAgents).toHaveLength(1)
  expect(ofAgents.filter((name) => begun.has(name))).toEqual([])
})

test('dist/node.js, bun.js, deno.js: begin without the client of Upstash, which is a chunk of its own', () => {
  const begun = new Set(['node.js', 'bun.js', 'deno.js'].flatMap((entry) => loadedWith(entry)))
  const ofUpstash = [...servers].filter(([, code]) => code.includes('UPSTASH_CONSOLE')).map(([name]) => name)

  expect(ofUpstash).toHaveLength(1)
  expect(ofUpstash.filter((name) => begun.has(name))).toEqual([])
})

test('dist/node.js, bun.js, deno.js: are at most 2.2 MB, all they share counted once', () => {
  expect([...servers.keys()]).toEqual(expect.arrayContaining(['node.js', 'bun.js', 'deno.js']))
  expect([...servers.values()].reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(2_200_000)
})

test('dist/node.js, bun.js, deno.js: are ASCII alone, for Bun reads bundles as Latin-1', () => {
  const others = [...servers].filter(([, code]) => code.some((byte) => byte > 0x7f))

  expect(others.map(([name]) => name)).toEqual([])
})

test.each([
  { bundle: 'docs-page.js', maxBytes: 700_000, word: 'swagger-ui-bundle.js' },
  { bundle: 'console.js', maxBytes: 80_000, word: 'page.js' },
])(
  'dist/$bundle: is one file of at most $maxBytes bytes in ASCII, which only a request for its page loads',
  async (page) => {
    const { bundle, maxBytes, word } = page
    const docsPage = await readFile(join(folder, bundle))
    const loadedAtStart = ['node.js', 'bun.js', 'deno.js'].flatMap((entry) => loadedWith(entry))
    const loading = [...servers].filter(([, code]) => importsOf(code).includes(`./${bundle}`))

    expect(docsPage.some((byte) => byte > 0x7f)).toBe(false)
    expect(docsPage.toString()).toContain(word)
    expect(docsPage.length).toBeLessThanOrEqual(maxBytes)
    expect(loading).toHaveLength(1)
    expect(loadedAtStart).not.toContain(bundle)
    expect(wordsIn(Buffer.concat([workerd, ...servers.values()]), /swagger-ui-bundle/)).toEqual([])
  },
)

test('dist/workerd-assets: has each file of the pages, and nothing else', async () => {
  const assets = join(folder, 'workerd-assets')
  const names = await readdir(assets, { recursive: true, withFileTypes: true })
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => relative(assets, join(entry.parentPath, entry.name)))
  const wanted = new Map([
    ...DOCS_FILES.map((name) => [`docs-page/${name}.json`, () => readDocsFile(name)] as const),
    ...CONSOLE_FILES.map((name) => [`console/${name}.json`, () => readConsoleFile(name)] as const),
  ])
  const read = await Promise.all([...wanted.keys()].map((name) => readFile(join(assets, name), 'utf8')))

  expect(files.toSorted()).toEqual([...wanted.keys()].toSorted())
  expect(read.map((text) => JSON.parse(text))).toEqual(await Promise.all([...wanted.values()].map((own) => own())))
})

test('dist/workerd.js: its document is dist/openapi.json, unpacked', async () => {
  const document = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8'))
  const { default: worker } = await import(join(folder, 'workerd.js'))
  const env = { ENGINE_HTTP_URL: 'http://127.0.0.1:1', SERVICE_CATALOG_ID: 'none', SERVICE_API_AUTH_TOKEN: 'secret' }
  const headers = { Authorization: 'Bearer secret' }

  const response = await worker.fetch(new Request('http://localhost/openapi.json', { headers }), env)
  const { paths, components } = await response.json()

  expect(Object.keys(paths).length).toBeGreaterThan(40)
  for (const [path, item] of Object.entries(paths)) expect(item).toEqual(document.paths[path])
  expect(components).toEqual(document.components)
})

test('dist/node.js, bun.js, deno.js: hold no definitions of Temporal Cloud’s own service', () => {
  expect(wordsIn(Buffer.concat([...servers.values()]), /cloudservice/)).toEqual([])
})

test('dist/node.js, bun.js, deno.js: need no package (threat 103)', () => {
  const foreign = [...servers.values()].flatMap(importsOf).filter((name) => !name.startsWith('./') && !isBuiltin(name))

  expect(foreign).toEqual([])
})

test('dist/client.js: is one file of at most 9.7 KiB, minified and gzipped, which imports nothing', async () => {
  const client = await readFile(join(folder, 'client.js'))
  const bundle = await rolldown({ input: join(folder, 'client.js') })
  const { output } = await bundle.generate({ minify: true })
  await bundle.close()

  expect(gzipSync(output[0].code).length).toBeLessThanOrEqual(9.7 * 1024)
  expect(importsOf(client)).toEqual([])
  expect(wordsIn(client, /\b(?:process|Buffer|require)\b/)).toEqual([])
})

test('dist/client.js: keeps its names and its lines, which an uncaught error shows', async () => {
  const client = await readFile(join(folder, 'client.js'), 'utf8')
  const { createClient } = await import(join(folder, 'client.js'))
  const error = await createClient({ url: 'http://portico.test', fetch: async () => new Response('', { status: 404 }) })
    .status('x')
    .catch((reason: unknown) => reason)

  expect([error.constructor.name, error.name]).toEqual(['PorticoError', 'UnexpectedResponseError'])
  expect(error.stack).toContain('at readAnswer ')
  expect(Math.max(...client.split('\n').map(({ length }) => length))).toBeLessThan(400)
})

test('dist/cli.js: a command loads neither the service nor what other commands need', async () => {
  const names = (await readdir(folder)).filter((name) => /^cli.*\.js$/.test(name))
  const chunks = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  )
  const loaded = new Set<string>()
  const load = (name: string) => {
    const chunk = chunks.get(name)
    if (chunk === undefined || loaded.has(name)) return
    loaded.add(name)
    for (const other of staticImportsOf(chunk)) load(other.slice('./'.length))
  }
  for (const name of ['cli.js', 'cli-run-cli.js', 'cli-inspect.js']) load(name)
  const code = Buffer.concat([...loaded].map((name) => chunks.get(name) ?? Buffer.alloc(0)))
  const foreign = [...chunks.values()].flatMap(importsOf).filter((name) => /^[@\w]/.test(name) && !isBuiltin(name))

  expect(loaded.size).toBeGreaterThan(4)
  expect(code.length).toBeLessThan(150_000)
  expect(wordsIn(code, /grpc-status-details-bin|getRequestListener|start-dev/)).toEqual([])
  expect(
    [...chunks.keys()].filter((name) => importsOf(chunks.get(name) ?? Buffer.alloc(0)).includes('./node.js')),
  ).toEqual(['cli.js'])
  // The worker kit, which `portico archive` runs.
  expect(foreign).toEqual(['portico/worker'])
})

test('no bundle: holds what only tests or workers need (threat 103)', () => {
  for (const [name, text] of [...servers, ['workerd.js', workerd] as const]) {
    expect(
      wordsIn(text, /core-bridge|bundleWorkflowCode|vitest|redis.call\('(?:PEXPIRE|ZADD|ZREM)|method:.PUT/),
      name,
    ).toEqual([])
  }
})

test('package.json: what its users install is what the package imports', async () => {
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const names = (await readdir(folder)).filter((name) => /^(index|worker|workflow|span|otel|lib-.*)\.js$/.test(name))
  const imported = (await Promise.all(names.map((name) => readFile(join(folder, name))))).flatMap(importsOf)
  const packages = imported
    .filter((name) => !isBuiltin(name))
    .flatMap((name) => /^(?:@[\w-]+\/)?\w[\w-]*(?=\/|$)/.exec(name)?.[0] ?? [])

  expect([...new Set(packages)].toSorted()).toEqual(
    [...Object.keys(dependencies), ...Object.keys(peerDependencies)].toSorted(),
  )
})

const PROTOBUFJS = /\.addJSON\(|lookupService/

/** The chunk, and all that is loaded with it. */
function loadedWith(name: string, loaded = new Set<string>()): string[] {
  if (loaded.has(name)) return [...loaded]
  loaded.add(name)
  const imports = staticImportsOf(servers.get(name) ?? Buffer.alloc(0)).filter((other) => other.startsWith('./'))
  for (const other of imports) loadedWith(other.slice('./'.length), loaded)
  return [...loaded]
}

/** Only the first match, because an assertion message should not contain a megabyte. */
function wordsIn(bundle: Buffer, words: RegExp): string[] {
  return words.exec(bundle.toString())?.slice(0, 1) ?? []
}

function importsOf(bundle: Buffer): string[] {
  const dynamic = [...bundle.toString().matchAll(/\bimport\(\s*[`"']([^`"']+)[`"']\s*\)/g)]
  return [...new Set([...staticImportsOf(bundle), ...dynamic.map(([, name = '']) => name)])]
}

/** Not the sentence `please import from "…"` of a message: a statement has names between the words. */
function staticImportsOf(bundle: Buffer): string[] {
  return [...bundle.toString().matchAll(/(?:(?<!\bimport )\bfrom|\bimport)\s*["']([^"']+)["']/g)].map(
    ([, name = '']) => name,
  )
}
