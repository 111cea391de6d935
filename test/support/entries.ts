/**
 * Starts the service on each runtime as its users do, configured by environment variables alone.
 * The process gets PATH and HOME of the test and a free port, unless `env` sets them; wrangler gets its own HOME.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { bin, denoTask, type WorkerdBindings, workerdConfig } from '../../dev/servers/runtimes.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { withMetrics } from './invariants.ts'
import { withPolicy } from './policy.ts'

export interface ServedEntry extends Pick<RunningProcess, 'ended' | 'output' | 'pid'> {
  url: string
  /** Where its metrics are, if they have a port of their own. */
  metricsUrl?: string
  /** SIGTERM; killed if it does not end in a minute. */
  stop(): Promise<void>
}

export type ServeEntry = (env: Record<string, string>) => Promise<ServedEntry>

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_TIMEOUT_MS = 60_000
// The service itself waits up to 30 s: only one that hangs is killed.
const STOP_GRACE_MS = 60_000

/** An entry that logs where it listens. */
export function processOf(command: string, ...args: string[]): ServeEntry {
  return processIn(ROOT, command, ...args)
}

/** The same, started in the folder. */
export function processIn(cwd: string, command: string, ...args: string[]): ServeEntry {
  return async (env) => {
    let listening: Listening | undefined
    const server = await startProcess({
      command,
      args,
      cwd,
      env: withMetrics(withDefaults(env)),
      onLine: (line) => {
        listening ??= listeningAt(line)
      },
    })
    const { url, metricsUrl } = await untilServing(server, () => listening)
    return { ...served(server, toLocal(url)), ...(metricsUrl !== undefined && { metricsUrl: toLocal(metricsUrl) }) }
  }
}

export const GRPC_RUNTIMES = ['Node', 'Bun', 'Deno'] as const
export const RUNTIMES = [...GRPC_RUNTIMES, 'workerd'] as const

type Command = readonly [command: string, ...args: string[]]

/** The commands that run the service from its sources, on each runtime that calls the engine over gRPC. */
export const SOURCE_COMMANDS = {
  Node: [process.execPath, 'src/service/runtime/node/index.ts'],
  Bun: [bin('bun'), 'src/service/runtime/bun.ts'],
  Deno: denoTask(),
} as const satisfies Record<(typeof GRPC_RUNTIMES)[number], Command>

/** The service from its sources. */
export const FROM_SOURCE = {
  Node: processOf(...SOURCE_COMMANDS.Node),
  Bun: processOf(...SOURCE_COMMANDS.Bun),
  Deno: processOf(...SOURCE_COMMANDS.Deno),
} as const satisfies Record<(typeof GRPC_RUNTIMES)[number], ServeEntry>

/** A bundle (an absolute path) on workerd itself, its bindings taken from the environment, and others. */
export function workerdOf(bundle: string, others: WorkerdBindings = {}): ServeEntry {
  return async (env) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-workerd-'))
    const port = await freePort()
    await copyFile(bundle, join(folder, 'worker.js'))
    const bindings = withDefaults(env)
    await writeFile(join(folder, 'config.capnp'), workerdConfig(port, Object.keys(bindings), others))
    const server = await startProcess({
      command: bin('workerd'),
      args: ['serve', 'config.capnp'],
      cwd: folder,
      env: bindings,
    })
    const url = `http://127.0.0.1:${port}`
    void server.ended.then(() => rm(folder, { recursive: true, force: true }))
    await untilServing(server, async () => (await fetch(`${url}/health`)).status > 0)
    return served(server, url)
  }
}

/** The service on every runtime: from its sources, and on workerd the bundle. */
export const EVERY_RUNTIME = {
  ...FROM_SOURCE,
  workerd: async (env) => workerdOf(join(await ensureBundles(), 'workerd.js'))(env),
} as const satisfies Record<(typeof RUNTIMES)[number], ServeEntry>

/**
 * For `wrangler dev`. By default two that start at the same time choose the same port,
 * and one of them ends with an error.
 */
export const ANY_INSPECTOR_PORT = ['--inspector-port', '0']

/** The same bundle behind `wrangler dev`, which puts a proxy of its own, on workerd too, before it. */
export function wranglerOf(bundle: string): ServeEntry {
  return async (env) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-wrangler-'))
    const port = await freePort()
    await copyFile(bundle, join(folder, 'worker.js'))
    await writeFile(join(folder, 'wrangler.toml'), wranglerConfig(join(dirname(bundle), 'workerd-assets')))
    const server = await startProcess({
      command: bin('wrangler'),
      args: ['dev', '--ip', '127.0.0.1', '--port', String(port), ...ANY_INSPECTOR_PORT],
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        CLOUDFLARE_INCLUDE_PROCESS_ENV: 'true',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
        WRANGLER_SEND_METRICS: 'false',
        ...withEngineHttpUrl(withPolicy(env)),
      },
    })
    const url = `http://127.0.0.1:${port}`
    void server.ended.then(() => rm(folder, { recursive: true, force: true }))
    await untilServing(server, async () => (await fetch(`${url}/health`)).status > 0)
    // Its children survive its SIGTERM.
    return { ...served(server, url), stop: async () => void (await server.kill()) }
  }
}

function wranglerConfig(assets: string): string {
  return `name = "portico"
main = "worker.js"
no_bundle = true
compatibility_date = "2026-10-20"
compatibility_flags = ["enable_request_signal"]
[assets]
directory = ${JSON.stringify(assets)}
binding = "ASSETS"
run_worker_first = true
`
}

function served({ ended, output, pid, stop }: RunningProcess, url: string): ServedEntry {
  return { ended, output, pid, url, stop: async () => void (await stop(STOP_GRACE_MS)) }
}

function withDefaults(env: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return withEngineHttpUrl(withPolicy({ PATH, HOME, SERVICE_PORT: '0', ...env }))
}

/** Adds the URL of the shared engine's HTTP API, for runs with `ENGINE_TRANSPORT=http`. */
function withEngineHttpUrl(env: Record<string, string>): Record<string, string> {
  const { address, httpUrl } = inject('engine')
  return env.ENGINE_ADDRESS === address && httpUrl !== null ? { ENGINE_HTTP_URL: httpUrl, ...env } : env
}

/**
 * Waits for a value other than false. Rejects with the output if the process ends first,
 * or if it has no value within a minute.
 */
export async function untilServing<T>(
  server: RunningProcess,
  probe: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined>> {
  const died = new AbortController()
  void server.ended.then(({ code }) => died.abort(new Error(`The service ended with ${code}`)))
  return until('the service listens', probe, { timeoutMs: START_TIMEOUT_MS, signal: died.signal }).catch(
    (error: Error) => {
      throw new Error(`${error.message}:\n${server.output()}`)
    },
  )
}

interface Listening {
  url: string
  metricsUrl?: string
}

function listeningAt(line: string): Listening | undefined {
  const event: Listening & { message?: string } = line.startsWith('{') ? JSON.parse(line) : {}
  return event.message === 'listening' ? event : undefined
}

function toLocal(url: string): string {
  return url.replace('0.0.0.0', '127.0.0.1')
}
