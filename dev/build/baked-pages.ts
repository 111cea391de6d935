/** Bundles the files of the reference page and of the console for each runtime. */
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { CONSOLE_FILES, readConsoleFile } from '../../src/service/fronts/console/files.ts'
import { DOCS_FILES, docsFileUrl, readDocsFile } from '../../src/service/fronts/docs/files.ts'
import { assetPath, type PageFolder } from '../../src/service/fronts/page-assets.ts'
import type { PageFile, ReadPageFile } from '../../src/service/http/page-files.ts'

interface BakedPage {
  /** Of its assets, and the name of its bundle. */
  folder: PageFolder
  /** The folder of its front. */
  front: string
  /** What the module exports that the baked one replaces. */
  reader: string
  read: ReadPageFile
  files: readonly string[]
  /** The file, of a package or of ours, that has the text. */
  originOf(name: string): string
}

const PAGES: readonly BakedPage[] = [
  {
    folder: 'docs-page',
    front: 'docs',
    reader: 'readDocsFile',
    read: readDocsFile,
    files: DOCS_FILES,
    originOf: (name) => fileURLToPath(docsFileUrl(name) ?? ''),
  },
  {
    folder: 'console',
    front: 'console',
    reader: 'readConsoleFile',
    read: readConsoleFile,
    files: CONSOLE_FILES,
    // The script contains Hono's renderer.
    originOf: (name) =>
      name === 'page.js' ? fileURLToPath(import.meta.resolve('hono/jsx/dom')) : sourceOf(`console/${name}`),
  },
]

function sourceOf(path: string): string {
  return fileURLToPath(new URL(`../../src/service/fronts/${path}`, import.meta.url))
}

/** For Node, Bun and Deno: in separate bundles, so that reading them needs no permission. */
export function bakedPages(): Plugin {
  return {
    name: 'baked-pages',
    load: {
      filter: { id: PAGES.map(({ front }) => sourceOf(`${front}/files.ts`)) },
      async handler(id) {
        const page = PAGES.find(({ front }) => id === sourceOf(`${front}/files.ts`))
        if (page === undefined) return null
        const files = await Promise.all(page.files.map(async (name) => [name, await fileOf(page, name)]))
        const code = `
          const files = new Map(${JSON.stringify(files)})
          export const ${page.reader} = async (name) => files.get(name) ?? null`
        return { code, meta: { origins: page.files.map(page.originOf) } }
      },
    },
  }
}

async function fileOf({ folder, read }: BakedPage, name: string): Promise<PageFile> {
  const file = await read(name)
  if (file === null) throw new Error(`${name} is not a file of ${folder}`)
  return file
}

/** For workerd: in a folder of static assets, because a Worker compiles all of its modules when it starts. */
export function pageAssets(folder: string): Plugin {
  return {
    name: 'page-assets',
    async generateBundle() {
      for (const page of PAGES)
        for (const name of page.files) {
          const source = JSON.stringify(await fileOf(page, name))
          const fileName = `${folder}/${assetPath(page.folder, name)}`
          this.emitFile({ type: 'asset', fileName, originalFileName: page.originOf(name), source })
        }
    },
  }
}

/** Leaves the modules out of the other bundles, which import those bundles instead. */
export function separatePages(): Plugin {
  return {
    name: 'separate-pages',
    resolveId: {
      filter: { id: /^\.\/files\.ts$/ },
      handler(_source, importer) {
        const page = PAGES.find(({ front }) => importer?.endsWith(`fronts/${front}/lazy-files.ts`))
        return page === undefined ? null : { id: `./${page.folder}.js`, external: true }
      },
    },
  }
}
