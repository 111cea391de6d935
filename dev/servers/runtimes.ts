/** Runs scripts on the runtimes that npm installed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export const DENO_PERMISSIONS = ['--allow-net', '--allow-env', '--allow-sys']

/** The path of a program that an npm package installed. */
export function bin(name: string): string {
  return join(ROOT, 'node_modules', '.bin', name)
}

/**
 * The command of `deno task start`, to run in the root folder: the service from its sources, which may read only what
 * the task allows.
 */
export function denoTask(): [command: string, ...args: string[]] {
  const { command } = JSON.parse(readFileSync(join(ROOT, 'deno.json'), 'utf8')).tasks.start
  const script = /^env sh -c 'exec deno (.+)'$/.exec(command)?.[1]
  if (script === undefined) throw new Error('deno.json: the task does not end with exec deno')
  // The shell of the task, without the process of `deno task` around it.
  return ['sh', '-c', `exec ${bin('deno')} ${script}`]
}

export interface WorkerdBindings {
  json?: Record<string, unknown>
  /** An absolute path: the folder that the binding `ASSETS` serves. */
  assets?: string
}

/**
 * The configuration of workerd for a `worker.js` in the same folder. The variables with these names are bindings, too.
 */
export function workerdConfig(port: number, names: string[], { json = {}, assets }: WorkerdBindings = {}): string {
  const services = [
    '(name = "main", worker = .portico)',
    '(name = "internet", network = (allow = ["public", "private", "local"]))',
    ...(assets === undefined ? [] : [`(name = "assets", disk = (path = ${JSON.stringify(assets)}))`]),
  ]
  const bindings = [
    ...(assets === undefined ? [] : ['(name = "ASSETS", service = "assets")']),
    ...names.map((name) => `(name = "${name}", fromEnvironment = "${name}")`),
    ...Object.entries(json).map(
      ([name, value]) => `(name = "${name}", json = ${JSON.stringify(JSON.stringify(value))})`,
    ),
  ]
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [${services.join(', ')}],
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
