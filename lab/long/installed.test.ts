/** The package, installed and used as docs/workers.md describes, with the oldest and the newest SDK that it allows. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'
import { ensureNode22 } from '../../dev/servers/components.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../../test/support/api.ts'
import { makeCertificates } from '../../test/support/certificates.ts'
import { test } from '../../test/support/fixtures.ts'
import { chapterOf, codeBlocks, namedFiles } from '../../test/support/markdown.ts'
import { ensureTarball, nodeFirst } from '../../test/support/package.ts'
import { paste } from '../../test/support/paste.ts'
import { whenInTime } from './when-in-time.ts'

const NPM = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' }

interface Project {
  folder: string
  /** Replaces the catalog `orders` of the page. */
  catalog: string
  port: number
  /** The worker and the API. */
  programs: RunningProcess
}

let cleanup: AsyncDisposableStack
let workersPage: string
let allowedSdks: string
let oldestSdk: string
/** Created with the commands of docs/workers.md. */
let newest: Project
/** The same with the oldest SDK that package.json allows. */
let oldest: Project
let typescript5: string

test.beforeAll(async ({ folder, cleanup: fileCleanup }) => {
  cleanup = fileCleanup
  workersPage = await readFile(new URL('../../docs/workers.md', import.meta.url), 'utf8')
  allowedSdks = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')).peerDependencies[
    '@temporalio/worker'
  ]
  oldestSdk = /^>=(\S+) <2$/.exec(allowedSdks)?.[1] ?? ''
  const tarball = await ensureTarball()
  const [install = ''] = codeBlocks(workersPage, 'sh')
  const commands = install.replace(/\S+\.tgz/, tarball)
  typescript5 = join(folder, 'node_modules/typescript/bin/tsc')
  const folders = { newest: join(folder, 'newest'), oldest: join(folder, 'oldest') }
  await mkdir(folders.newest)
  await shell(folders.newest, commands)
  // Most packages are the same for both SDKs.
  await shell(folder, 'cp -R newest oldest')
  const sdk = commands.match(/@temporalio\/work\w+/g)?.map((name) => `${name}@${oldestSdk}`) ?? []
  await Promise.all([
    shell(folders.oldest, `npm install ${sdk.join(' ')}`),
    // TypeScript 7 does not support node10.
    shell(folder, 'npm install --prefix . typescript@5.9'),
  ])
  ;[newest, oldest] = await Promise.all([startProject(folders.newest), startProject(folders.oldest)])
})

test('docs/workers.md: the code works when it is pasted into an empty folder', async () => {
  const found = await curlOfPage(newest)
  expect(found).toMatchObject({ status: 'completed', input: { name: 'Ada' }, output: 'Hello, Ada!' })
})

test('docs/workers.md: the code works with the oldest SDK that package.json allows', async () => {
  const sdk = JSON.parse(await readFile(join(oldest.folder, 'node_modules/@temporalio/worker/package.json'), 'utf8'))

  expect(sdk.version).toBe(oldestSdk)
  expect(await curlOfPage(oldest)).toMatchObject({ status: 'completed', output: 'Hello, Ada!' })
})

test('the worker kit: polls can be delayed with the oldest and the newest SDK', () => {
  for (const { programs } of [newest, oldest]) {
    expect(programs.output()).toContain('Catalog published')
    expect(programs.output()).not.toContain('cannot hold back its polls')
  }
})

test('the package: the SDK of the project is used', () => {
  for (const { folder } of [newest, oldest]) {
    expect(existsSync(join(folder, 'node_modules/@temporalio/client'))).toBe(true)
    expect(existsSync(join(folder, 'node_modules/portico/node_modules/@temporalio'))).toBe(false)
  }
})

test('docs/deployment.md, in your own server: engineTransport uses the certificates, with the oldest and the newest SDK', async () => {
  const env = await engineWithMutualTls()
  const deployment = await readFile(new URL('../../docs/deployment.md', import.meta.url), 'utf8')
  const [mount = ''] = codeBlocks(chapterOf(deployment, 'In your own server'), 'ts')

  for (const { folder, catalog } of [newest, oldest]) {
    await Promise.all([writeFile(join(folder, 'mount.ts'), mount), writeFile(join(folder, 'drive.ts'), DRIVE)])
    const drive = async (more: Record<string, string>) =>
      lastLine(
        await shell(folder, 'node drive.ts', {
          ...env,
          SERVICE_CATALOG_ID: catalog,
          SERVICE_ALLOW_ANONYMOUS: 'true',
          ...more,
        }),
      )

    expect(JSON.parse(await drive({}))).toEqual([
      [200, expect.objectContaining({ output: 'Hello, Ada!' })],
      [200, expect.objectContaining({ status: 'completed' })],
      [200, expect.objectContaining({ source: 'history' })],
    ])
    expect(await drive({ ENGINE_TLS_CERT: '', ENGINE_TLS_KEY: '' })).toBe('503')
  }
})

test('the package: CommonJS modules can require its entries, even on the oldest Node.js', async () => {
  const script = `const { runWorker } = require('portico/worker'); console.log(typeof runWorker, typeof require('portico').createPortico, typeof require('portico/client').createClient, require('portico/openapi.json').openapi)`

  for (const command of [process.execPath, await ensureNode22()]) {
    const printed = await runCommand({
      command,
      args: ['--input-type=commonjs', '--eval', script],
      cwd: newest.folder,
      env: nodeFirst,
    })
    expect(printed.trim()).toBe('function function function 3.1.1')
  }
})

test('types: they resolve in ES modules and in CommonJS, with node16, bundler and node10', async () => {
  for (const { folder } of [newest, oldest]) {
    for (const name of ['use.ts', 'use.mts', 'use.cts']) await writeFile(join(folder, name), USE)
  }
  const typescript7 = [bin('tsc'), '--singleThreaded'] as const
  const node10 = [
    '--skipLibCheck',
    '--esModuleInterop',
    '--module',
    'commonjs',
    '--moduleResolution',
    'node10',
    'use.ts',
  ]

  const errors = await Promise.all([
    typeErrorsOf(newest, ...typescript7, '--module', 'node16', 'use.mts', 'use.cts'),
    typeErrorsOf(newest, ...typescript7, '--module', 'esnext', '--moduleResolution', 'bundler', 'use.ts'),
    typeErrorsOf(oldest, ...typescript7, '--module', 'node16', 'use.mts', 'use.cts'),
    typeErrorsOf(newest, process.execPath, typescript5, ...node10),
  ])

  expect(errors).toEqual([[], [], [], []])
})

/** Writes the files of the page and runs its command, which starts the worker and the API. */
async function startProject(folder: string): Promise<Project> {
  for (const [name, code] of namedFiles(workersPage)) await writeFile(join(folder, name), code)
  const catalog = `installed-${crypto.randomUUID()}`
  const port = await freePort()
  const [, command = ''] = /`(npx portico dev [^`]+)`/.exec(workersPage) ?? []
  const programs = await startProcess({
    command: 'sh',
    args: ['-c', `exec ${command.replace('--catalog orders', `--catalog ${catalog}`)}`],
    cwd: folder,
    env: { ...nodeFirst, ENGINE_ADDRESS: inject('engine').address, SERVICE_PORT: String(port) },
  })
  cleanup.defer(async () => void (await programs.kill()))
  await until('everything is ready', () => programs.output().includes('The worker serves'), {
    signal: exitSignal(programs, 'portico dev'),
  })
  return { folder, catalog, port, programs }
}

/** The response to the request of the page. */
async function curlOfPage({ port }: Project): Promise<unknown> {
  const [, curl = ''] = codeBlocks(workersPage, 'sh')
  const { start } = makeApi({ url: `http://127.0.0.1:${port}` })
  // It loads code, for which a busy machine may take longer than a request may take.
  await whenInTime('the first run is started', () => start('hello', { name: 'Bob' }))
  return JSON.parse(await paste(curl.replace('127.0.0.1:3001', `127.0.0.1:${port}`)))
}

function shell(cwd: string, commands: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  return runCommand({ command: 'sh', args: ['-ec', commands], cwd, env: { ...nodeFirst, ...NPM, ...env } })
}

/** Starts a proxy that requires a client certificate, and returns the variables to connect through it. */
async function engineWithMutualTls(): Promise<Record<string, string>> {
  const { authority, server, client } = await makeCertificates()
  const tls = { ...server, ca: authority.cert, ALPNProtocols: ['h2'], requestCert: true, rejectUnauthorized: true }
  const proxy = await startTcpProxy(inject('engine').address, { tls })
  cleanup.defer(() => proxy.close())
  const files = { ENGINE_TLS_CA: authority.cert, ENGINE_TLS_CERT: client.cert, ENGINE_TLS_KEY: client.key }
  const env: Record<string, string> = { ENGINE_ADDRESS: proxy.address, ENGINE_TLS_SERVER_NAME: 'localhost' }
  for (const [name, pem] of Object.entries(files)) {
    const path = join(newest.folder, `${name}.pem`)
    await writeFile(path, pem)
    env[name] = path
  }
  return env
}

const DRIVE = `
import { fetch } from './mount.ts'

async function send(method: string, path: string, body?: object) {
  const given = body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
  const response = await fetch(new Request('http://localhost' + path, { method, ...given }))
  return [response.status, await response.json()] as const
}

// The first request loads code, for which a busy machine may take longer than a request may take.
const deadlineAt = process.env.ENGINE_TLS_CERT ? Date.now() + 90_000 : 0
let reached: number
do [reached] = await send('GET', '/workflow/catalog')
while (reached === 503 && Date.now() < deadlineAt)
if (reached !== 200) {
  console.log(reached)
  process.exit()
}
const run = await send('POST', '/workflow/run', { workflowName: 'hello', input: { name: 'Ada' }, timeout: 60_000 })
const id = run[1].workflowId
console.log(JSON.stringify([run, await send('GET', '/workflow/' + id + '/status'), await send('GET', '/workflow/' + id + '/trace-log')]))
process.exit()
`

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

/** The errors of a compiler, except for one in Temporal's own declarations. */
async function typeErrorsOf({ folder: cwd }: Project, command: string, ...args: string[]): Promise<string[]> {
  const types = ['--typeRoots', fileURLToPath(new URL('../../node_modules/@types', import.meta.url)), '--types', 'node']
  const options = ['--strict', '--noEmit', '--target', 'es2023', '--lib', 'es2024,dom,dom.iterable', ...types]
  const compiler = await startProcess({ command, args: [...args, ...options], cwd, env: nodeFirst })
  await compiler.ended
  const errors = compiler
    .output()
    .split('\n')
    .filter((line) => /^\S/.test(line))
  return errors.filter((line) => !/^node_modules\/@temporalio\/\S+: error TS7016: .* module 'ms'/.test(line))
}

const USE = `
import { createPortico, engineTransport, parseConfig, type Config, type Portico } from 'portico'
import { createClient } from 'portico/client'
import workerd from 'portico/workerd'
import { defineCatalog, runWorker, type WorkflowTypesOf } from 'portico/worker'
import * as z from 'zod'

export async function mount(): Promise<Response> {
  const config: Config = parseConfig({}, { binds: false })
  const portico: Portico = createPortico({ config, transport: await engineTransport(config), log() {} })
  return portico.fetch(new Request('http://x'))
}
export const other: Promise<Response> = workerd.fetch(new Request('http://x'), {})
const catalog = defineCatalog({ greet: { input: z.object({ name: z.string() }) } })
export const names: string[] = catalog.workflows.map(({ name }) => name)
export const running: Promise<void> = runWorker({ catalog })
interface Workflows { greet: (input: { name: string }) => Promise<string> }
const client = createClient<WorkflowTypesOf<Workflows>>({ url: 'http://x' })
export const output: Promise<string> = client.run('greet', { input: { name: 'Ada' } })
// @ts-expect-error the name must be a string
client.run('greet', { input: { name: 17 } })
// @ts-expect-error it is not a number
export const wrong: number = runWorker
`
