/** Containers as strict as any platform's: a root that nobody can write to, no capability, no way to gain any. */
import { startProcess } from '../../dev/servers/process.ts'
import { until } from '../../dev/servers/until.ts'
import { type Images, PODMAN_ENV } from './images.ts'

export interface Container {
  /** What it has printed so far. */
  output(): string
  /** Its end, whoever ended it. */
  ended: Promise<{ code: number | null }>
  /** Runs a command in it; resolves with what it printed, rejects when it fails. */
  exec(...command: string[]): Promise<string>
  /** Sends the image's stop signal, and SIGKILL after ten seconds. */
  stop(): Promise<void>
  /** Asks the image's HEALTHCHECK; rejects when it says no. */
  health(): Promise<void>
}

const HARDENED = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges']

// Podman's own defaults may be more than this machine grants.
const LIMITS = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096']

export interface ContainerOptions {
  image: string
  env: Record<string, string>
  /** As compose.yaml gives it to the worker. */
  tmpfs?: string
  /** Resolves with the container when a line of its output matches; without, at once. */
  ready?: RegExp
}

/** On this machine's own network: the engine listens on its loopback address. */
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
    const died = new AbortController()
    void ended.then(({ code }) => died.abort(new Error(`${image} ended with ${code}:\n${output()}`)))
    await until(`${image} prints ${ready}`, () => ready.test(output()), { timeoutMs: 30_000, signal: died.signal })
  }
  return {
    output,
    ended,
    exec: (...command) => podman('exec', name, ...command),
    stop: async () => void (await podman('stop', '--time', '10', name)),
    health: async () => void (await podman('healthcheck', 'run', name)),
  }
}
