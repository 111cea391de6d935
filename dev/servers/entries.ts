/** The service on each runtime as its users start it, told everything by its environment. */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { freePort } from './ports.ts'
import { type RunningProcess, startProcess } from './process.ts'
import { until } from './until.ts'

export interface ServedEntry extends Pick<RunningProcess, 'ended' | 'output' | 'pid'> {
  url: string
  /** SIGTERM; killed when it does not end soon. */
  stop(): Promise<void>
}

export type ServeEntry = (env: Record<string, string>) => Promise<ServedEntry>

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_TIMEOUT_MS = 60_000
const STOP_GRACE_MS = 5000

export const DENO_PERMISSIONS = ['--allow-net', '--allow-env', '--allow-sys']

export const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

/** An entry that logs where it listens. */
export function processOf(command: string, ...args: string[]): ServeEntry {
  return async (env) => {
    let url: string | undefined
    const server = await startProcess({
      command,
      args,
      cwd: ROOT,
      env: withBothWays(env),
      onLine: (line) => {
        url ??= listeningAt(line)
      },
    })
    await untilServing(server, () => url !== undefined)
    return served(server, (url ?? '').replace('0.0.0.0', '127.0.0.1'))
  }
}

/** A bundle (an absolute path) on workerd itself, its bindings taken from the environment, and others that are JSON. */
export function workerdOf(bundle: string, json: Record<string, unknown> = {}): ServeEntry {
  return async (env) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-workerd-'))
    const port = await freePort()
    await copyFile(bundle, join(folder, 'worker.js'))
    const bindings = withBothWays(env)
    await writeFile(join(folder, 'config.capnp'), workerdConfig(port, Object.keys(bindings), json))
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

/** The same bundle behind `wrangler dev`, which puts a proxy of its own, on workerd too, before it. */
export function wranglerOf(bundle: string): ServeEntry {
  return async (env) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-wrangler-'))
    const port = await freePort()
    await copyFile(bundle, join(folder, 'worker.js'))
    await writeFile(join(folder, 'wrangler.toml'), WRANGLER_CONFIG)
    const server = await startProcess({
      command: bin('wrangler'),
      args: ['dev', '--ip', '127.0.0.1', '--port', String(port)],
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        CLOUDFLARE_INCLUDE_PROCESS_ENV: 'true',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
        WRANGLER_SEND_METRICS: 'false',
        ...withBothWays(env),
      },
    })
    const url = `http://127.0.0.1:${port}`
    void server.ended.then(() => rm(folder, { recursive: true, force: true }))
    await untilServing(server, async () => (await fetch(`${url}/health`)).status > 0)
    // Its children outlive it when it is asked to end.
    return { ...served(server, url), stop: async () => void (await server.kill()) }
  }
}

const WRANGLER_CONFIG = `name = "portico"
main = "worker.js"
no_bundle = true
compatibility_date = "2026-10-20"
compatibility_flags = ["enable_request_signal"]
`

function served({ ended, output, pid, stop }: RunningProcess, url: string): ServedEntry {
  return { ended, output, pid, url, stop: async () => void (await stop(STOP_GRACE_MS)) }
}

/** Over HTTP there is another URL to the same engine. */
function withBothWays(env: Record<string, string>): Record<string, string> {
  const { address, httpUrl } = inject('engine')
  return env.ENGINE_ADDRESS === address && httpUrl !== null ? { ENGINE_HTTP_URL: httpUrl, ...env } : env
}

async function untilServing(server: RunningProcess, isServing: () => boolean | Promise<boolean>): Promise<void> {
  const died = new AbortController()
  void server.ended.then(({ code }) => died.abort(new Error(`The service ended with ${code}:\n${server.output()}`)))
  await until('the service listens', isServing, { timeoutMs: START_TIMEOUT_MS, signal: died.signal })
}

function listeningAt(line: string): string | undefined {
  const event: { message?: string; url?: string } = line.startsWith('{') ? JSON.parse(line) : {}
  return event.message === 'listening' ? event.url : undefined
}

export function workerdConfig(port: number, names: string[], json: Record<string, unknown> = {}): string {
  const bindings = [
    ...names.map((name) => `(name = "${name}", fromEnvironment = "${name}")`),
    ...Object.entries(json).map(
      ([name, value]) => `(name = "${name}", json = ${JSON.stringify(JSON.stringify(value))})`,
    ),
  ]
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .portico), (name = "internet", network = (allow = ["public", "private", "local"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const portico :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-20",
  compatibilityFlags = ["enable_request_signal"],
  bindings = [${bindings.join(', ')}]
);
`
}
