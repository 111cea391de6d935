/**
 * The build of the last release, which tests upgrade from: the service on Node, the worker kit and the client. Before
 * the first release, it is one of an earlier commit. `npm run baseline:build` replaces it, once for each release.
 *
 * It is one JSON document, compressed with Brotli, because tests have neither git history nor tar.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { VERSION } from '../../src/version.ts'
import { ensureBundles } from './bundles.ts'
import { makeOnce } from './make-once.ts'

export interface OlderBuild {
  version: string
  commit: string
  /** The entry of the service on Node. It needs no `node_modules`. */
  service: string
  /** The module `portico/worker`. Temporal's SDK and zod are those of this checkout. */
  worker: string
  /** The module `portico/client`. */
  client: string
}

interface Stored extends Pick<OlderBuild, 'version' | 'commit'> {
  /** The content of each file by its name. */
  files: Record<string, string>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const ARCHIVE = join(ROOT, 'test/fixtures/older-build.json.br')
const ENTRIES = ['node.js', 'worker.js', 'client.js']
const IMPORTED = /["'`]\.\/([\w-]+\.js)["'`]/g
// A third of the size, and no test of upgrades opens the reference page.
const LEFT_OUT = 'docs-page.js'

/** Unpacks the build below the checkout, where its worker kit finds `node_modules`. */
export async function ensureOlderBuild(): Promise<OlderBuild> {
  const archive = await readFile(ARCHIVE)
  const { version, commit, files }: Stored = JSON.parse(brotliDecompressSync(archive).toString())
  const hash = createHash('sha256').update(archive).digest('hex').slice(0, 12)
  await mkdir(join(ROOT, '.cache'), { recursive: true })
  const folder = await makeOnce(join(ROOT, `.cache/older-${hash}`), async (unfinished) => {
    await mkdir(unfinished)
    await writeFile(join(unfinished, 'package.json'), '{"type":"module"}')
    for (const [name, content] of Object.entries(files)) await writeFile(join(unfinished, name), content)
  })
  const urlOf = (name: string) => pathToFileURL(join(folder, name)).href
  return { version, commit, service: join(folder, 'node.js'), worker: urlOf('worker.js'), client: urlOf('client.js') }
}

async function saveOlderBuild(): Promise<void> {
  const folder = await ensureBundles()
  const files: Record<string, string> = {}
  const add = async (name: string): Promise<void> => {
    if (name in files || name === LEFT_OUT) return
    const content = await readFile(join(folder, name), 'utf8')
    files[name] = content
    for (const [, imported = ''] of content.matchAll(IMPORTED)) await add(imported)
  }
  for (const entry of ENTRIES) await add(entry)
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
  const stored: Stored = { version: VERSION, commit, files }
  const archive = brotliCompressSync(JSON.stringify(stored))
  await writeFile(ARCHIVE, archive)
  console.log(`${ARCHIVE}: ${VERSION}, ${commit}, ${Object.keys(files).length} files, ${archive.length} bytes`)
}

if (import.meta.main) await saveOlderBuild()
