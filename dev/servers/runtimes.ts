/** Runs scripts on the runtimes that npm installed. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export const DENO_PERMISSIONS = ['--allow-net', '--allow-env', '--allow-sys']

/** The path of a program that an npm package installed. */
export function bin(name: string): string {
  return join(ROOT, 'node_modules', '.bin', name)
}

/** The configuration of workerd for a `worker.js` in the same folder. Bindings come from the environment and from `json`. */
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
