/**
 * A headless Chromium from an npm package, which needs neither root nor libraries, fonts or displays of the system. The
 * package is for Linux on x64; elsewhere `chromium` on the PATH is used.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createBrotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { makeOnce } from './make-once.ts'

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../node_modules/@sparticuz/chromium/', import.meta.url))

// The package's own configuration names folders of AWS Lambda.
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`

const START_TIMEOUT_MS = 120_000

/** Starts a browser; `newPage` opens a page with storage of its own. It exits with this process. */
export async function startChromium(): Promise<Browser> {
  const folder = hasPackage() ? await ensureChromium() : null
  const { TMPDIR, PATH } = process.env
  return chromium.launch({
    executablePath: folder === null ? await programOnPath() : join(folder, 'chromium'),
    timeout: START_TIMEOUT_MS,
    env: { TMPDIR, PATH, ...(folder !== null && { LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_PATH: folder }) },
  })
}

function hasPackage(): boolean {
  return process.platform === 'linux' && process.arch === 'x64' && existsSync(PACKAGE)
}

async function programOnPath(): Promise<string> {
  return (await runCommand({ command: 'which', args: ['chromium'] }).catch(missing)).trim()
}

function missing(cause: unknown): never {
  throw new Error('Chromium is not available; put `chromium` on the PATH', { cause })
}

/** Unpacks the package, once for each version. */
async function ensureChromium(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'))
  const folder = join(CACHE, `chromium-${version}`)
  return existsSync(folder) ? folder : makeOnce(folder, unpackInto)
}

async function unpackInto(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await decompress('chromium.br', join(folder, 'chromium'), 0o755)
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
    const archive = join(folder, basename(name, '.br'))
    await decompress(name, archive)
    await runCommand({ command: 'tar', args: ['-xf', archive, '-C', folder] })
    await rm(archive)
  }
  await writeFile(join(folder, 'fonts.conf'), FONTS_CONF)
}

function decompress(name: string, to: string, mode?: number): Promise<void> {
  const target = createWriteStream(to, mode === undefined ? {} : { mode })
  return pipeline(createReadStream(join(PACKAGE, 'bin', name)), createBrotliDecompress(), target)
}
