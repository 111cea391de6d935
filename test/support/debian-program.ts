/** Programs from Debian's packages, which are unpacked into `.cache/` and need no root. */
import { readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ensureComponent, runCommand } from '../../src/cli/dev/servers/component.ts'
import { onPath } from '../../src/cli/dev/servers/sources.ts'

export interface DebianProgram {
  name: string
  /** Its package, and those that it needs beside the ones that each Debian has. */
  packages: string[]
  /** Path below the root of the file system. */
  path: string
  /** An option that prints the version. */
  version: string
}

export interface Installed {
  command: string
  env: NodeJS.ProcessEnv
}

/** Returns the program on the PATH, or else that of the package. Rejects with a message that says what was tried. */
export async function ensureDebianProgram({ name, packages, path, version }: DebianProgram): Promise<Installed> {
  const command = await ensureComponent({
    name,
    version: 'of Debian',
    pins: packages,
    program: path,
    sources: [
      onPath(basename(path)),
      { name: 'apt-get', stallTimeoutMs: 60_000, fetch: (folder, signal) => unpack(packages, folder, signal) },
    ],
    check: async (program) => {
      await runCommand({ command: program, args: [version], env: await environmentOf(program, path) })
    },
    advice: `Put ${basename(path)} on the PATH.`,
  })
  return { command, env: await environmentOf(command, path) }
}

async function unpack(packages: string[], folder: string, signal: AbortSignal): Promise<void> {
  const download = { command: 'apt-get', args: ['download', ...packages], cwd: folder }
  try {
    await runCommand(download, signal)
  } catch {
    // A new machine has no lists of packages, or old ones.
    await runCommand({ command: 'apt-get', args: ['update'] }, signal)
    await runCommand(download, signal)
  }
  for (const file of (await readdir(folder)).filter((file) => file.endsWith('.deb'))) {
    await runCommand({ command: 'dpkg-deb', args: ['-x', file, '.'], cwd: folder }, signal)
    await rm(join(folder, file))
  }
}

/** With the libraries of the packages. */
async function environmentOf(command: string, path: string): Promise<NodeJS.ProcessEnv> {
  if (!command.endsWith(`/${path}`)) return process.env
  const libraries = join(command.slice(0, -path.length), 'usr', 'lib')
  const folders = await readdir(libraries).catch(() => [])
  return { ...process.env, LD_LIBRARY_PATH: folders.map((folder) => join(libraries, folder)).join(':') }
}
