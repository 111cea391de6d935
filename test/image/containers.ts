/** Hardened containers: a read-only root file system and no capabilities. */
import { startProcess } from '../../dev/servers/process.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Images, PODMAN_ENV } from './images.ts'

export interface Container {
  /** The output so far. */
  output(): string
  /** Resolves when the container has exited for any reason. */
  ended: Promise<{ code: number | null }>
  /** Runs a command in the container and returns its output. Rejects if it fails. */
  exec(...command: string[]): Promise<string>
  /** Sends the image's stop signal, and SIGKILL after ten seconds. */
  stop(): Promise<void>
  /** Runs the image's HEALTHCHECK. Rejects if it fails. */
  health(): Promise<void>
}

const HARDENED = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges']

// Podman's defaults may exceed the limits of this machine.
const LIMITS = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096']

export interface ContainerOptions {
  image: string
  env: Record<string, string>
  /** Like `tmpfs` of the worker in compose.yaml. */
  tmpfs?: string
  /** Wait until the output matches. Default: do not wait. */
  ready?: RegExp
}

/** Uses the network of this machine, because the engine listens on its loopback address. */
export async function startContainer(
  { podman, podmanArgs }: Images,
  { image, env, tmpfs, ready }: ContainerOptions,
): Promise<Container> {
  const name = `portico-${crypto.randomUUID()}`
  const own = [`--name=${name}`, ...Object.entries(env).map(([variable, value]) => `--env=${variable}=${value}`)]
  if (tmpfs !== undefined) own.push(`--tmpfs=${tmpfs}`)
  const args = podmanArgs('run', '--rm', '--pull=never', '--network=host', ...HARDENED, ...LIMITS, ...own, image)
  const running = await startProcess({ command: 'podman', args, env: PODMAN_ENV })
  const { ended, output } = running
  if (ready !== undefined) {
    const signal = exitSignal(running, image)
    await until(`${image} prints ${ready}`, () => ready.test(output()), { timeoutMs: 30_000, signal })
  }
  return {
    output,
    ended,
    exec: (...command) => podman('exec', name, ...command),
    stop: async () => void (await podman('stop', '--time', '10', name)),
    health: async () => void (await podman('healthcheck', 'run', name)),
  }
}
