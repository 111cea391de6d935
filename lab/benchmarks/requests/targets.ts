/** What is measured: Portico on three runtimes, the floor of each, and the engine's own HTTP API. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBundles } from '../../../dev/servers/bundles.ts'
import type { RunningEngine } from '../../../dev/servers/engine.ts'
import { startProcess } from '../../../dev/servers/process.ts'
import { bin } from '../../../dev/servers/runtimes.ts'
import { freePort } from '../../../src/cli/dev/servers/ports.ts'
import type { RunningProcess } from '../../../src/cli/dev/servers/process.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Target } from './load.ts'

export const RUNTIMES = ['node', 'bun', 'deno'] as const
export type Runtime = (typeof RUNTIMES)[number]

export interface RunningTarget extends Target {
  name: string
  kill(): Promise<unknown>
}

// The dev server's limits are those of a shared cluster. It also closes connections that are idle for 2 minutes or 5
// minutes old: reconnecting would be measured, too, and Deno crashes if nothing prevents it, as in the floor (decision
// 021).
export const UNLIMITED = {
  'frontend.keepAliveMaxConnectionIdle': '24h',
  'frontend.keepAliveMaxConnectionAge': '24h',
  'frontend.rps': 1_000_000,
  'frontend.namespaceRPS': 1_000_000,
  'frontend.namespaceRPS.visibility': 1_000_000,
  'frontend.namespaceCount': 100_000,
  // The engine reads search attributes from its store for lists. From 2000 a second on it rejected lists.
  'frontend.persistenceMaxQPS': 1_000_000,
  'history.rps': 1_000_000,
  'history.persistenceMaxQPS': 1_000_000,
}

const FLOOR = fileURLToPath(new URL('./floor.ts', import.meta.url))

export async function startPortico(
  runtime: Runtime,
  engine: RunningEngine,
  catalog: string,
  env: Record<string, string> = {},
): Promise<RunningTarget> {
  const script = join(await ensureBundles(), `${runtime}.js`)
  return startTarget(`portico on ${runtime}`, runtime, script, engine, catalog, env)
}

/** A build of any version, which requires the token. */
export function startBuild(
  script: string,
  engine: RunningEngine,
  catalog: string,
  token: string,
): Promise<RunningTarget> {
  return startTarget(script, 'node', script, engine, catalog, { SERVICE_API_AUTH_TOKEN: token })
}

export function startFloor(runtime: Runtime, engine: RunningEngine, catalog: string): Promise<RunningTarget> {
  return startTarget(`floor on ${runtime}`, runtime, FLOOR, engine, catalog)
}

async function startTarget(
  name: string,
  runtime: Runtime,
  script: string,
  engine: RunningEngine,
  catalog: string,
  more: Record<string, string> = {},
): Promise<RunningTarget> {
  const port = await freePort()
  const { command, args } = commandOf(runtime, script)
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
    SERVICE_PORT: String(port),
    SERVICE_CATALOG_ID: catalog,
    SERVICE_LOG_LEVEL: 'warn',
    ENGINE_ADDRESS: engine.address,
    ...more,
  }
  const server: RunningProcess = await startProcess({ command, args, env })
  const isUp = async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok
  await until(`${name} answers`, () => isUp().catch(() => false), { timeoutMs: 30_000 })
  return { name, port, pid: server.pid, kill: () => server.kill() }
}

/** How the runtime runs a script. */
export function commandOf(runtime: Runtime, script: string): { command: string; args: string[] } {
  if (runtime === 'node') return { command: process.execPath, args: [script] }
  if (runtime === 'bun') return { command: bin('bun'), args: [script] }
  return { command: bin('deno'), args: ['run', '--allow-all', '--node-modules-dir=manual', script] }
}
