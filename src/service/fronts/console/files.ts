/** The files of the console. Bundles contain their text instead of this file: dev/build/baked-pages.ts. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { PageFile } from '../../http/page-files.ts'

const TEXT_OF = new Map<string, { type: string; read: () => Promise<string> }>([
  ['page.html', { type: 'text/html; charset=utf-8', read: () => own('page.html') }],
  ['page.css', { type: 'text/css; charset=utf-8', read: () => own('page.css') }],
  ['page.js', { type: 'text/javascript; charset=utf-8', read: bundleScript }],
])

export const CONSOLE_FILES: readonly string[] = [...TEXT_OF.keys()]

export async function readConsoleFile(name: string): Promise<PageFile | null> {
  const file = TEXT_OF.get(name)
  return file === undefined ? null : { type: file.type, text: await file.read() }
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
