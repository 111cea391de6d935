/** The package as npm packs and installs it. */
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { makeOnce } from '../../dev/servers/make-once.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NOT_COPIED = new Set(['.cache', '.git', '.wrangler', 'dist', 'node_modules', 'test'])

/** The tests' own Node.js comes first, also for what npm and scripts start. */
export const nodeFirst = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  // TypeScript 7 is a Go program, which would use a quarter of its CPU time to collect garbage.
  GOGC: '400',
}

/** Packs the package once for all test files. Returns the path of the tarball. */
export async function ensureTarball(): Promise<string> {
  const folder = await makeOnce(join(inject('sharedFolder'), 'package'), packInto)
  const [tarball = 'no tarball'] = await readdir(folder)
  return join(folder, tarball)
}

// rolldown writes its configuration as JavaScript beside it, and removes that while other tests copy.
const isCopied = (name: string) => !NOT_COPIED.has(name) && !/^rolldown\.config\.\d/.test(name)

/** The repository in another folder, after `npm ci` and before `npm run build`. */
export async function makeClone(folder: string): Promise<void> {
  await cp(ROOT, folder, { recursive: true, filter: (path) => isCopied(path.slice(ROOT.length).split(sep)[0] ?? '') })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

/** Packs a copy of the repository, because another test uses `dist`. */
async function packInto(folder: string): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), 'portico-source-'))
  try {
    await mkdir(folder)
    await makeClone(copy)
    // Left by an older build: must not be packed.
    await mkdir(join(copy, 'dist'))
    await writeFile(join(copy, 'dist/server-of-yesterday.js'), '')
    await runCommand({ command: 'npm', args: ['pack', '--pack-destination', folder], cwd: copy, env: nodeFirst })
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}
