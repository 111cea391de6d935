/** What `npm run build` makes of the sources as they are now: made once, whichever tests ask first. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from './component.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = join(ROOT, '.cache')

/** The folder they are in. */
export async function haveBundles(): Promise<string> {
  const folder = join(CACHE, `bundles-${await sourcesHash()}`)
  if (existsSync(folder)) return folder
  await forgetOlder()
  const making = `${folder}.${randomUUID().slice(0, 8)}`
  await outputOf({
    command: process.execPath,
    args: [join(ROOT, 'node_modules/rolldown/bin/cli.mjs'), '-c', '-d', making],
    cwd: ROOT,
  })
  // Who else has made them meanwhile has made the same.
  await rename(making, folder).catch(() => rm(making, { recursive: true }))
  return folder
}

// Another run may still use those of a minute ago.
const OLD_MS = 3_600_000

async function sourcesHash(): Promise<string> {
  const sources = (await readdir(join(ROOT, 'src'), { recursive: true }))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file}`)
  const hash = createHash('sha256')
  const making = [
    'rolldown.config.ts',
    'dev/ascii-only.ts',
    'dev/baked-http-schema.ts',
    'dev/lean-protos.ts',
    'package-lock.json',
  ]
  for (const file of [...sources.sort(), ...making]) hash.update(file).update(await readFile(join(ROOT, file)))
  return hash.digest('hex').slice(0, 12)
}

async function forgetOlder(): Promise<void> {
  const all = (await readdir(CACHE)).filter((name) => name.startsWith('bundles-')).map((name) => join(CACHE, name))
  for (const folder of all) {
    const { mtimeMs } = await stat(folder)
    if (Date.now() - mtimeMs > OLD_MS) await rm(folder, { recursive: true, force: true })
  }
}
