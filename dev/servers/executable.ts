/** Single-file executables: the bundles of the service and of the command line, inside Bun. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Component, ensureComponent, runCommand } from '../../src/cli/dev/servers/component.ts'
import { npmProgram } from './npm-program.ts'
import { bin } from './runtimes.ts'

/** The architectures, as Node.js names them. */
export type Architecture = 'x64' | 'arm64'

const BUN_PACKAGES = { x64: '@oven/bun-linux-x64', arm64: '@oven/bun-linux-aarch64' }

/** Writes the executable for Linux. It reads no file of the folder that it is started in, such as `.env`. */
export async function writeExecutable(bundles: string, path: string, architecture: Architecture): Promise<void> {
  const bun = ['--compile-executable-path', await ensureBun(architecture)]
  const alone = ['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig']
  // The worker kit needs the SDK's native module.
  const args = ['build', '--compile', ...bun, ...alone, '--external', 'portico/worker', '--outfile', path]
  await runCommand({ command: bin('bun'), args: [...args, join(bundles, 'cli.js')] })
}

/** Returns the path of the runtime. npm installs that of this machine only. */
async function ensureBun(architecture: Architecture): Promise<string> {
  const name = BUN_PACKAGES[architecture]
  const isInstalled = existsSync(fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url)))
  return isInstalled ? bin('bun') : ensureComponent(bunFor(name))
}

function bunFor(name: string): Component {
  const lock = createRequire(import.meta.url)('../../package-lock.json')
  const { version, integrity } = lock.packages[`node_modules/${name}`]
  // It is for another machine.
  return npmProgram({ name, version, integrity, path: join(name, 'bin', 'bun'), flags: ['--force'] })
}
