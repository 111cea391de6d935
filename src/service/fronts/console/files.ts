/** The files of the console. Bundles contain their text instead of this file: dev/build/baked-pages.ts. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { PageFile } from '../../http/page-files.ts'
import { packedFile } from '../packed-file.ts'

const READERS = new Map([
  ['page.html', () => own('page.html')],
  ['page.css', () => own('page.css')],
  ['page.js', bundleScript],
])

export const CONSOLE_FILES: readonly string[] = [...READERS.keys()]

export async function readConsoleFile(name: string): Promise<PageFile | null> {
  const read = READERS.get(name)
  return read === undefined ? null : packedFile(name, await read())
}

function own(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8')
}

/** The script of the console, minified. rolldown is a development dependency: installed packages have the result. */
async function bundleScript(): Promise<string> {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: fileURLToPath(new URL('page/page.tsx', import.meta.url)),
    platform: 'browser',
    // The source's own tsconfig.json is not in the package.
    tsconfig: false,
    transform: { jsx: { runtime: 'automatic', importSource: 'hono/jsx/dom', development: false } },
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  await bundle.close()
  return output[0].code
}
