/** The declarations of the package, in one text, and the compiler that makes and checks them. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../src/cli/dev/servers/process.ts'
import { nodeFirst } from '../support/package.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Declaration files by their paths. */
export type Declarations = Record<string, string>

/** The declaration files of entry points, by names such as `portico/client`. */
type Entries = Record<string, string>

/** The declarations of today's entry points. */
export async function emitTypes(): Promise<string> {
  const entries = await entriesOfPackage()
  return inFolder(async (folder) => {
    const compilerOptions = {
      noEmit: false,
      noCheck: true,
      emitDeclarationOnly: true,
      declaration: true,
      removeComments: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(ROOT, 'src'),
      outDir: folder,
    }
    const files = Object.values(entries).map((file) => join(ROOT, 'src', file.replace('.d.ts', '.ts')))
    await tsc(folder, { compilerOptions, files })
    return pack(entries, await reachable(folder, Object.values(entries)))
  })
}

async function entriesOfPackage(): Promise<Entries> {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const typed = Object.entries<{ types?: string }>(exports).filter(([, { types }]) => types !== undefined)
  return Object.fromEntries(
    typed.map(([name, { types = '' }]) => [posix.join('portico', name), types.replace('./dist/types/', '')]),
  )
}

/** The files in the folder, and those that they import. */
async function reachable(folder: string, files: readonly string[]): Promise<Declarations> {
  const found: Declarations = {}
  const queue = [...files]
  for (const file of queue) {
    if (file in found) continue
    const code = await readFile(join(folder, file), 'utf8')
    found[file] = code
    for (const [, path = ''] of code.matchAll(/(?:from |import |import\()['"](\.[^'"]+)['"]/g))
      queue.push(posix.join(dirname(file), path.replace(/(?:\.d)?\.[jt]s$/, '.d.ts')))
  }
  return found
}

function pack(entries: Entries, declarations: Declarations): string {
  const head = Object.entries(entries).map(([name, file]) => `// ${name}: ${file}\n`)
  const sorted = Object.entries(declarations).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [...head, ...sorted.map(([file, code]) => `// ${file}\n${code}`)].join('')
}

export function unpack(text: string): { entries: Entries; declarations: Declarations } {
  const entries = [...text.matchAll(/^\/\/ (\S+): (\S+)$/gm)].map(([, name, file]) => [name, file])
  const files = text.matchAll(/^\/\/ (\S+\.d\.ts)\n((?:(?!\/\/ ).*\n)*)/gm)
  return {
    entries: Object.fromEntries(entries),
    declarations: Object.fromEntries([...files].map(([, file, code]) => [file, code])),
  }
}

/** Runs the compiler with the settings of this project. Returns its output. */
export async function tsc(
  folder: string,
  config: { compilerOptions: object; files: readonly string[] },
): Promise<string> {
  const typeRoots = [join(ROOT, 'node_modules/@types')]
  const compilerOptions = { ...config.compilerOptions, typeRoots }
  await writeTo(folder, {
    'tsconfig.json': JSON.stringify({ ...config, extends: join(ROOT, 'tsconfig.json'), include: [], compilerOptions }),
    'package.json': '{ "type": "module" }',
  })
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', folder, '--pretty', 'false']
  const lines: string[] = []
  const onLine = (line: string) => void lines.push(line)
  const compiler = await startProcess({ command: process.execPath, args, cwd: folder, env: nodeFirst, onLine })
  await compiler.ended
  return lines.join('\n')
}

export async function writeTo(folder: string, files: Declarations): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
}

/** Calls `act` with an empty folder, in which the packages of this project can be imported. */
export async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-types-'))
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    return await act(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
