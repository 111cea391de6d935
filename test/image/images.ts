/** Builds the images of the Dockerfile on base images that are created here, so that no image registry is needed. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bin } from '../../dev/servers/runtimes.ts'
import { type Component, ensureComponent, runCommand } from '../../src/cli/dev/servers/component.ts'

export interface Images {
  /** The service on Node. */
  node: string
  /** The service on Bun. */
  bun: string
  /** `examples/worker.ts`. */
  worker: string
  /** The base images of the services. */
  bases: { node: string; bun: string }
  /** Runs podman on these images and their containers only. */
  podman(...args: string[]): Promise<string>
  podmanArgs(...args: string[]): string[]
  remove(): Promise<void>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BASES = { node: 'localhost/node-alone', bun: 'localhost/bun-alone' }

const debian: Component = {
  name: 'Debian base',
  version: 'bookworm',
  pins: ['minbase', 'libstdc++6'],
  program: 'base.tar',
  sources: [
    {
      name: 'mmdebstrap',
      // mmdebstrap writes its file at the end.
      stallTimeoutMs: 600_000,
      fetch: async (folder, signal) => {
        const args = ['--variant=minbase', '--include=libstdc++6', 'bookworm', join(folder, 'base.tar')]
        await runCommand({ command: 'mmdebstrap', args }, signal)
      },
    },
  ],
  check: async () => {},
  advice: 'Check that apt can download Debian packages.',
}

export async function buildImages(): Promise<Images> {
  await assertToolsInstalled()
  const folder = await mkdtemp(join(tmpdir(), 'portico-images-'))
  const store = [
    '--root',
    join(folder, 'store'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    process.env.STORAGE_DRIVER ?? 'overlay',
  ]
  const buildah = (command: string, ...args: string[]) =>
    runCommand({
      command: 'buildah',
      args: [...store, command, ...args],
      cwd: ROOT,
      env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
    })
  const podmanArgs = (...args: string[]) => [...store, '--cgroup-manager', 'cgroupfs', '--runtime', 'runc', ...args]
  const podman = (...args: string[]) => runCommand({ command: 'podman', args: podmanArgs(...args), env: PODMAN_ENV })

  const build = async (image: string, ...args: string[]) => {
    const bases = ['BUILD_IMAGE=localhost/node:24-slim', `NODE_IMAGE=${BASES.node}`, `BUN_IMAGE=${BASES.bun}`]
    const all = [...bases.flatMap((base) => ['--build-arg', base]), ...args]
    await buildah('build', '--pull-never', '--layers', '--format', 'docker', '--tag', image, ...all, '.')
    return image
  }

  try {
    await makeBases(buildah)
    return {
      node: await build('localhost/portico:node', '--build-arg', 'RUNTIME=node'),
      bun: await build('localhost/portico:bun', '--build-arg', 'RUNTIME=bun'),
      worker: await build('localhost/portico-example-worker', '--target', 'worker'),
      bases: BASES,
      podman,
      podmanArgs,
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }

  async function remove() {
    await podman('rm', '--all', '--force', '--time', '1')
    await buildah('rm', '--all')
    await rm(folder, { recursive: true, force: true })
  }
}

/** The tests run HEALTHCHECK themselves. Otherwise systemd would, where it exists. */
export const PODMAN_ENV = { ...process.env, DISABLE_HC_SYSTEMD: 'true' }

type Buildah = (command: string, ...args: string[]) => Promise<string>

/** One image like node:24-slim, and one per runtime that contains no other program. */
async function makeBases(buildah: Buildah): Promise<void> {
  const programs = { node: process.execPath, bun: await realpath(bin('bun')) }
  const tar = await ensureComponent(debian)

  const full = await from(buildah, tar, 'node', programs.node)
  await buildah('copy', '--quiet', full, npmFolder(), '/usr/local/lib/node_modules/npm')
  for (const name of ['npm', 'npx'])
    await buildah('run', full, '--', 'ln', '-s', `../lib/node_modules/npm/bin/${name}-cli.js`, `/usr/local/bin/${name}`)
  // npm may need this machine's own certificate authority.
  const authorities = process.env.NODE_EXTRA_CA_CERTS
  if (authorities) {
    await buildah('copy', '--quiet', full, await realpath(authorities), '/etc/ssl/extra.pem')
    await buildah('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem', full)
  }
  await buildah('commit', '--quiet', '--rm', full, 'localhost/node:24-slim')

  for (const runtime of ['node', 'bun'] as const) {
    const bare = await from(buildah, tar, runtime, programs[runtime])
    await buildah('run', bare, '--', 'rm', '-rf', '/usr/share', '/var/lib', '/usr/sbin', '/usr/bin')
    await buildah('commit', '--quiet', '--rm', bare, BASES[runtime])
  }
}

async function from(buildah: Buildah, tar: string, runtime: string, program: string): Promise<string> {
  const container = (await buildah('from', 'scratch')).trim()
  await buildah('add', '--quiet', container, tar, '/')
  await buildah('copy', '--quiet', container, program, `/usr/local/bin/${runtime}`)
  await buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/usr/sbin', container)
  return container
}

function npmFolder(): string {
  const { npm_execpath: cli } = process.env
  if (!cli) throw new Error('npm_execpath is not set; start the tests with npm run test:image')
  return dirname(dirname(cli))
}

const TOOLS = ['buildah', 'podman', 'runc', 'mmdebstrap']

async function assertToolsInstalled(): Promise<void> {
  const isInstalled = await Promise.all(
    TOOLS.map((command) => runCommand({ command, args: ['--version'] }).then(Boolean, () => false)),
  )
  const missing = TOOLS.filter((_, index) => !isInstalled[index])
  if (process.getuid?.() !== 0) missing.unshift('root')
  if (missing.length > 0)
    throw new Error(
      `The image tests require ${missing.join(', ')}; run as root: apt-get install --no-install-recommends ${TOOLS.join(' ')}`,
    )
}
