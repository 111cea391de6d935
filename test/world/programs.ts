/** Runs other people's programs. What they need is installed into `.cache/` once, with pinned versions. */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeOnce } from '../../dev/servers/make-once.ts'
import { ensureComponent, runCommand } from '../../src/cli/dev/servers/component.ts'
import type { ProcessOptions } from '../../src/cli/dev/servers/process.ts'
import { goEnvironment } from '../clients/tools.ts'
import { npmProject } from '../support/npm-project.ts'
import { type PythonPackage, pythonEnvironment, pythonPackage } from '../support/python-package.ts'

const JAVA = fileURLToPath(new URL('./java/', import.meta.url))

import { ensureMavenLibraries, sha256 } from './maven.ts'

const GO = fileURLToPath(new URL('./go/', import.meta.url))
const NODE = fileURLToPath(new URL('./node/', import.meta.url))
const PYTHON = fileURLToPath(new URL('./python/', import.meta.url))

/** Runs a class of `java/`. Returns the JSON that it prints. */
// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
export async function runJava(name: string, args: string[]): Promise<any> {
  const folder = await ensureMavenLibraries('Java libraries', JAVA)
  const libraries = join(folder, 'lib', '*')
  const classPath = [await compiled(folder, libraries), libraries].join(delimiter)
  return printed({ command: 'java', args: ['-XX:TieredStopAtLevel=1', '-cp', classPath, name, ...args] })
}

/** Runs a script of `python/`, which imports the package. Returns the JSON that it prints. */
export async function runPython(
  script: string,
  { requirements, ...library }: PythonPackage,
  args: string[],
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
): Promise<any> {
  const program = await ensureComponent(pythonPackage({ ...library, requirements: textOf(PYTHON, requirements) }))
  return printed({ command: 'python3', args: [join(PYTHON, script), ...args], env: pythonEnvironment(program) })
}

/** Runs a program of `go/`. Returns the JSON that it prints. */
// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
export async function runGo(name: string, args: string[]): Promise<any> {
  return printed({ command: 'go', args: ['run', join(GO, name), ...args], env: await goEnvironment() })
}

/** Loads a package of `node/`. */
// biome-ignore lint/suspicious/noExplicitAny: the packages are not installed when the types are checked
export async function loadPackage(name: string): Promise<any> {
  return createRequire(await ensureComponent(nodePackages))(name)
}

/** The last line of JSON. Libraries may write warnings before it. */
export async function printed(options: ProcessOptions): Promise<unknown> {
  const lines = (await runCommand(options)).split('\n')
  return JSON.parse(lines.findLast((line) => line.startsWith('{')) ?? '')
}

const nodePackages = npmProject({
  name: 'packages of npm',
  source: NODE,
  program: join('express', 'index.js'),
  check: async (program) => createRequire(program)('express'),
})

/** Compiles all programs of `java/`. Returns the folder of their classes. */
async function compiled(folder: string, libraries: string): Promise<string> {
  const names = (await readdir(JAVA)).filter((name) => name.endsWith('.java')).toSorted()
  const sources = names.map((name) => textOf(JAVA, name)).join()
  const classes = join(folder, `classes-${sha256(sources).slice(0, 12)}`)
  return makeOnce(classes, (unfinished) =>
    runCommand({
      command: 'javac',
      args: ['-d', unfinished, '-cp', libraries, ...names.map((name) => join(JAVA, name))],
    }),
  )
}

function textOf(folder: string, name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}
