/** A folder in which a client is generated, compiled and run with the commands of docs/clients.md. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../dev/servers/process.ts'
import { chapterOf, codeBlocks } from '../support/markdown.ts'

/** A generator, with the compiler and the runtime of its clients. */
export interface Toolchain {
  /** Heading of its chapter in docs/clients.md. */
  name: string
  /** What a project has before its client is generated: each name there, with the path below this folder. */
  files: Record<string, string>
  /** Installs what is missing. Returns the environment of the commands. */
  prepare(folder: string): Promise<NodeJS.ProcessEnv>
}

/** A block of commands in docs/clients.md, named by the comment in its first line. */
export type Step = 'Generate' | 'Compile' | 'Run'

export interface Finished {
  code: number | null
  output: string
}

export interface Project {
  /** Runs the commands of the step as the page has them. */
  run(step: Step, env?: NodeJS.ProcessEnv): Promise<Finished>
}

const HERE = fileURLToPath(new URL('.', import.meta.url))
const PAGE = new URL('../../docs/clients.md', import.meta.url)

export async function createProject(toolchain: Toolchain, folder: string, document: string): Promise<Project> {
  await mkdir(folder)
  for (const [name, path] of Object.entries(toolchain.files)) await copyFile(join(HERE, path), join(folder, name))
  await writeFile(join(folder, 'openapi.json'), document)
  const environment = await toolchain.prepare(folder)
  const chapter = chapterOf(await readFile(PAGE, 'utf8'), toolchain.name)
  return { run: (step, env) => shell(commandsOf(chapter, step), folder, { ...environment, ...env }) }
}

function commandsOf(chapter: string, step: Step): string {
  const block = codeBlocks(chapter, 'sh').find((code) => code.startsWith(`# ${step}\n`))
  if (block === undefined) throw new Error(`The chapter has no block "# ${step}"`)
  return block
}

async function shell(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Finished> {
  const { ended, output } = await startProcess({ command: 'sh', args: ['-euc', commands], cwd, env })
  const { code } = await ended
  return { code, output: output() }
}
