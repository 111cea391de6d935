/** Schemathesis, which generates requests from an OpenAPI document and checks the responses. It is a Python program. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../dev/servers/process.ts'
import { type Component, ensureComponent } from '../../src/cli/dev/servers/component.ts'
import { pip } from '../../src/cli/dev/servers/sources.ts'

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const textOf = (name: string) => readFileSync(fileOf(name), 'utf8')

const REQUIREMENTS = textOf('requirements.txt')

const schemathesis: Component = {
  name: 'Schemathesis',
  version: '4.32.5',
  pins: [REQUIREMENTS],
  program: 'schemathesis/__init__.py',
  sources: [pip('schemathesis', REQUIREMENTS)],
  check: async () => {}, // pip has installed the pinned version, or has failed
  advice: 'Install pip for Python 3.11 or newer.',
}

export interface SchemathesisOptions {
  /** Of the service. */
  url: string
  token: string
  seed: number
  /** Names of TOML files in this folder, which are joined. */
  config: readonly string[]
  /** Name of the Python file in this folder with checks and hooks. */
  hooks: string
  /** More variables for it. */
  env?: Record<string, string>
  /** More arguments of `schemathesis run`. */
  args?: readonly string[]
  onLine?: ((line: string) => void) | undefined
}

/** Runs every phase against the service. `passed` is false if a check failed, or if something could not be tested. */
export async function runSchemathesis(options: SchemathesisOptions): Promise<{ passed: boolean; output: string }> {
  const { url, token, seed, config, hooks, env, args = [], onLine } = options
  const packages = dirname(dirname(await ensureComponent(schemathesis)))
  const folder = await mkdtemp(join(tmpdir(), 'portico-fuzz-'))
  const configFile = join(folder, 'schemathesis.toml')
  await writeFile(configFile, config.map(textOf).join('\n'))
  const lines: string[] = []
  const running = await startProcess({
    command: 'python3',
    args: [
      ...['-m', 'schemathesis.cli', '--config-file', configFile],
      ...['run', `${url}/openapi.json`, '--header', `Authorization: Bearer ${token}`, '--seed', `${seed}`, ...args],
    ],
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: packages,
      PYTHONPYCACHEPREFIX: join(packages, 'bytecode'),
      SCHEMATHESIS_HOOKS: fileOf(hooks),
      ...env,
    },
    cwd: folder,
    onLine: (line) => {
      lines.push(line)
      onLine?.(line)
    },
  })
  const { code } = await running.ended
  await rm(folder, { recursive: true, force: true })
  return { passed: code === 0, output: lines.join('\n') }
}
