/** Puts the files of the reference page into a bundle of their own, so that reading them needs no permission. */
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { DOCS_FILES, readDocsFile } from '../../src/docs-page/files.ts'

const FILES_MODULE = fileURLToPath(new URL('../../src/docs-page/files.ts', import.meta.url))

export function bakedDocsPage(): Plugin {
  return {
    name: 'baked-docs-page',
    load: {
      filter: { id: FILES_MODULE },
      async handler() {
        const files = await Promise.all(DOCS_FILES.map(async (name) => [name, await readDocsFile(name)]))
        return `const files = new Map(${JSON.stringify(files)})
export const readDocsFile = async (name) => files.get(name) ?? null`
      },
    },
  }
}

/** Leaves the module out of the other bundles, which import that bundle instead. */
export function separateDocsPage(): Plugin {
  return {
    name: 'separate-docs-page',
    resolveId: {
      filter: { id: /^\.\/files\.ts$/ },
      handler: (_source, importer) =>
        importer?.endsWith('docs-page/lazy-files.ts') ? { id: './docs-page.js', external: true } : null,
    },
  }
}
