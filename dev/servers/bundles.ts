/** The bundles of `npm run build`, built once for each state of the sources and cached. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { makeOnce } from './make-once.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = join(ROOT, '.cache')

/** Returns the folder of the bundles. Builds them if the sources have changed. */
export async function ensureBundles(): Promise<string> {
  const folder = join(CACHE, `bundles-${await sourcesHash()}`)
  if (existsSync(folder)) return folder
  return makeOnce(folder, async (building) => {
    await removeOldBundles()
    const rolldown = join(ROOT, 'node_modules/rolldown/bin/cli.mjs')
    await runCommand({ command: process.execPath, args: [rolldown, '-c', '-d', building], cwd: ROOT })
  })
}

// Another run may still use recent bundles.
const OLD_MS = 3_600_000

async function sourcesHash(): Promise<string> {
  const sources = (await readdir(join(ROOT, 'src'), { recursive: true }))
    .filter((file) => /\.(?:ts|js|css|html)$/.test(file))
    .map((file) => `src/${file}`)
  const hash = createHash('sha256')
  const buildFiles = (await readdir(join(ROOT, 'dev/build'))).map((file) => `dev/build/${file}`)
  const build = [...buildFiles.sort(), 'rolldown.config.ts', 'package-lock.json']
  for (const file of [...sources.sort(), ...build]) hash.update(file).update(await readFile(join(ROOT, file)))
  return hash.digest('hex').slice(0, 12)
}

async function removeOldBundles(): Promise<void> {
  const all = (await readdir(CACHE)).filter((name) => name.startsWith('bundles-')).map((name) => join(CACHE, name))
  for (const folder of all) {
    const { mtimeMs } = await stat(folder)
    if (Date.now() - mtimeMs > OLD_MS) await rm(folder, { recursive: true, force: true })
  }
}
