/** The package beside Temporal's SDK, the lowest and the newest that it allows, and used as README.md says. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { outputOf } from '../../dev/servers/component.ts'
import { ensureNode22 } from '../../dev/servers/components.ts'
import { freePort } from '../../dev/servers/ports.ts'
import { type RunningProcess, startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../dev/servers/until.ts'
import { makeCertificates } from '../support/certificates.ts'
import { chapterOf, codeBlocks, namedFiles } from '../support/markdown.ts'
import { nodeFirst, packInto } from '../support/package.ts'
import { paste } from '../support/paste.ts'

const INSTALL_MS = 240_000
const READY_MS = 60_000
const NPM = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' }

interface Project {
  folder: string
  /** What README.md calls `orders`. */
  catalog: string
  worker: RunningProcess
}

const ends: (() => Promise<unknown>)[] = []
let readme: string
let allowedSdks: string
let lowestSdk: string
/** Made with README.md's commands. */
let newest: Project
/** With the versions of the SDK that package.json allows at the least. */
let lowest: Project
let typescript5: string

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-installed-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  allowedSdks = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')).peerDependencies[
    '@temporalio/worker'
  ]
  lowestSdk = /^>=(\S+) <2$/.exec(allowedSdks)?.[1] ?? ''
  const tarball = await packInto(folder)
  const [install = ''] = codeBlocks(chapterOf(readme, 'Write a worker'), 'sh')
  const commands = install.replace(/\S+\.tgz/, tarball)
  typescript5 = join(folder, 'node_modules/typescript/bin/tsc')
  ;[newest, lowest] = await Promise.all([
    aProject(join(folder, 'newest'), commands),
    aProject(join(folder, 'lowest'), commands.replaceAll(/@temporalio\/work\w+/g, `$&@${lowestSdk}`)),
    // TypeScript 7 has no node10 any more.
    shell(folder, 'npm install --prefix . typescript@5.9'),
  ])
}, INSTALL_MS)

afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

test('README.md, Write a worker: the code works when it is pasted into an empty folder', async () => {
  expect(await curlOfReadme(newest)).toMatchObject({
    status: 'completed',
    input: { name: 'Ada' },
    output: 'Hello, Ada!',
  })
})

test('README.md, Write a worker: the code works with the oldest SDK that package.json allows', async () => {
  const sdk = JSON.parse(await readFile(join(lowest.folder, 'node_modules/@temporalio/worker/package.json'), 'utf8'))

  expect(sdk.version).toBe(lowestSdk)
  expect(await curlOfReadme(lowest)).toMatchObject({ status: 'completed', output: 'Hello, Ada!' })
})

test('the worker kit: polls can be delayed with the oldest and the newest SDK', () => {
  for (const { worker } of [newest, lowest]) {
    expect(worker.output()).toContain('Catalog published')
    expect(worker.output()).not.toContain('cannot hold back its polls')
  }
})

test('the package: the SDK of the project is used', () => {
  for (const { folder } of [newest, lowest]) {
    expect(existsSync(join(folder, 'node_modules/@temporalio/client'))).toBe(true)
    expect(existsSync(join(folder, 'node_modules/portico/node_modules/@temporalio'))).toBe(false)
  }
})

test('README.md, mounting: engineTransport uses the certificates, with the oldest and the newest SDK', async () => {
  const env = await engineWithMutualTls()
  const [mount = ''] = codeBlocks(chapterOf(readme, 'Deploy'), 'ts').filter((code) => code.includes('engineTransport'))

  for (const { folder, catalog } of [newest, lowest]) {
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

test('portico, portico/worker: CommonJS modules can require them, even on the oldest Node.js', async () => {
  const script = `const { runWorker } = require('portico/worker'); console.log(typeof runWorker, typeof require('portico').createPortico)`

  for (const command of [process.execPath, await ensureNode22()]) {
    const printed = await outputOf({
      command,
      args: ['--input-type=commonjs', '--eval', script],
      cwd: newest.folder,
      env: nodeFirst,
    })
    expect(printed.trim()).toBe('function function')
  }
}, 60_000)

test('types: they resolve in ES modules and in CommonJS, with node16, bundler and node10', async () => {
  for (const { folder } of [newest, lowest]) {
    for (const name of ['use.ts', 'use.mts', 'use.cts']) await writeFile(join(folder, name), USE)
  }
  const typescript7 = bin('tsc')
  const node10 = [
    '--skipLibCheck',
    '--esModuleInterop',
    '--module',
    'commonjs',
    '--moduleResolution',
    'node10',
    'use.ts',
  ]

  const faults = await Promise.all([
    faultsOf(newest, typescript7, '--module', 'node16', 'use.mts', 'use.cts'),
    faultsOf(newest, typescript7, '--module', 'esnext', '--moduleResolution', 'bundler', 'use.ts'),
    faultsOf(lowest, typescript7, '--module', 'node16', 'use.mts', 'use.cts'),
    faultsOf(newest, process.execPath, typescript5, ...node10),
  ])

  expect(faults).toEqual([[], [], [], []])
}, 120_000)

/** Installs as the commands say, with the files of README.md, and runs its worker. */
async function aProject(folder: string, commands: string): Promise<Project> {
  await mkdir(folder)
  await shell(folder, commands)
  for (const [name, code] of namedFiles(chapterOf(readme, 'Write a worker'))) await writeFile(join(folder, name), code)
  const catalog = `installed-${crypto.randomUUID()}`
  const [, runWorker = ''] = programsOfReadme()
  const worker = await running({ folder, catalog }, runWorker)
  await until('the worker is ready', () => worker.output().includes('Worker ready'), {
    timeoutMs: READY_MS,
    signal: ended(worker),
  })
  return { folder, catalog, worker }
}

/** The engine, the worker, the API. */
function programsOfReadme(): string[] {
  const [, programs = ''] = codeBlocks(chapterOf(readme, 'Write a worker'), 'sh')
  return programs.trim().split('\n')
}

/** What README.md's request is answered by its API. */
async function curlOfReadme(project: Project): Promise<unknown> {
  const [engine, , runApi = ''] = programsOfReadme()
  const [, , curl = ''] = codeBlocks(chapterOf(readme, 'Write a worker'), 'sh')
  expect(engine).toBe('temporal server start-dev')
  const port = await freePort()
  const api = await running(project, runApi, { SERVICE_PORT: String(port) })
  await until('the API listens', () => api.output().includes('"listening"'), {
    timeoutMs: READY_MS,
    signal: ended(api),
  })
  const answer = await paste(curl.replace('127.0.0.1:3001', `127.0.0.1:${port}`))
  await api.stop(5000)
  return JSON.parse(answer)
}

async function running(
  { folder, catalog }: Omit<Project, 'worker'>,
  command: string,
  env: NodeJS.ProcessEnv = {},
): Promise<RunningProcess> {
  const line = `exec env ${command.replace('=orders ', `=${catalog} `)}`
  const program = await startProcess({
    command: 'sh',
    args: ['-c', line],
    cwd: folder,
    env: { ...nodeFirst, ENGINE_ADDRESS: inject('engine').address, ...env },
  })
  ends.push(() => program.kill())
  return program
}

function ended(program: RunningProcess): AbortSignal {
  const over = new AbortController()
  void program.ended.then(({ code }) => over.abort(new Error(`It ended with ${code}:\n${program.output()}`)))
  return over.signal
}

function shell(cwd: string, commands: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  return outputOf({ command: 'sh', args: ['-ec', commands], cwd, env: { ...nodeFirst, ...NPM, ...env } })
}

/** What the engine behind a proxy that wants a client's certificate is reached with. */
async function engineWithMutualTls(): Promise<Record<string, string>> {
  const { authority, server, client } = await makeCertificates()
  const tls = { ...server, ca: authority.cert, ALPNProtocols: ['h2'], requestCert: true, rejectUnauthorized: true }
  const proxy = await startTcpProxy(inject('engine').address, { tls })
  ends.push(() => proxy.close())
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

const [reached] = await send('GET', '/workflow/nobody/status')
if (reached !== 404) {
  console.log(reached)
  process.exit()
}
const run = await send('POST', '/workflow/run', { workflowName: 'hello', input: { name: 'Ada' }, timeout: 10_000 })
const id = run[1].workflowId
console.log(JSON.stringify([run, await send('GET', '/workflow/' + id + '/status'), await send('GET', '/workflow/' + id + '/trace-log')]))
process.exit()
`

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

/** What a compiler says, but for what Temporal's own declarations lack. */
async function faultsOf({ folder: cwd }: Project, command: string, ...args: string[]): Promise<string[]> {
  const types = ['--typeRoots', fileURLToPath(new URL('../../node_modules/@types', import.meta.url)), '--types', 'node']
  const options = ['--strict', '--noEmit', '--target', 'es2023', '--lib', 'es2024,dom,dom.iterable', ...types]
  const compiler = await startProcess({ command, args: [...args, ...options], cwd, env: nodeFirst })
  await compiler.ended
  const faults = compiler
    .output()
    .split('\n')
    .filter((line) => /^\S/.test(line))
  return faults.filter((line) => !/^node_modules\/@temporalio\/\S+: error TS7016: .* module 'ms'/.test(line))
}

const USE = `
import { createPortico, engineTransport, parseConfig, type Config, type Portico } from 'portico'
import workerd from 'portico/workerd'
import { defineCatalog, runWorker } from 'portico/worker'
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
// @ts-expect-error it is no number
export const wrong: number = runWorker
`
