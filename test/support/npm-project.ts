/** Packages of npm that tests install into `.cache/`, as the package-lock.json of a folder pins them. */
import { readFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Component, runCommand } from '../../src/cli/dev/servers/component.ts'
import { nodeFirst } from './package.ts'

export interface NpmProject {
  /** For people. */
  name: string
  /** It has package.json and package-lock.json. */
  source: string
  /** Path of a file below `node_modules`. `ensureComponent` returns where it is. */
  program: string
  check(program: string): Promise<unknown>
}

const FILES = ['package.json', 'package-lock.json']

export function npmProject({ name, source, program, check }: NpmProject): Component {
  return {
    name,
    version: '1',
    pins: [readFileSync(join(source, 'package-lock.json'), 'utf8')],
    program: join('node_modules', program),
    sources: [
      {
        name: 'npm',
        stallTimeoutMs: 60_000,
        fetch: async (folder, signal) => {
          for (const file of FILES) await copyFile(join(source, file), join(folder, file))
          const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
          await runCommand({ command: 'npm', args, cwd: folder, env: nodeFirst }, signal)
        },
      },
    ],
    check: async (installed) => void (await check(installed)),
    advice: 'Check that npm can download packages.',
  }
}
