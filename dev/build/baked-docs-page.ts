/** Bundles the files of the reference page for each runtime. */
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import type { Plugin } from 'rolldown'
import { assetPath } from '../../src/service/fronts/docs/assets.ts'
import type { DocsFile } from '../../src/service/fronts/docs/endpoints.ts'
import { DOCS_FILES, docsFileUrl, readDocsFile } from '../../src/service/fronts/docs/files.ts'

const FILES_MODULE = fileURLToPath(new URL('../../src/service/fronts/docs/files.ts', import.meta.url))

/** For Node, Bun and Deno: compressed, in a separate bundle, so that reading them needs no permission. */
export function bakedDocsPage(): Plugin {
  return {
    name: 'baked-docs-page',
    load: {
      filter: { id: FILES_MODULE },
      async handler() {
        const files = await Promise.all(DOCS_FILES.map(deflated))
        const code = `
          const files = new Map(${JSON.stringify(files)})
          export async function readDocsFile(name) {
            const file = files.get(name)
            if (file === undefined) return null
            const bytes = Uint8Array.from(atob(file.deflated), (byte) => byte.charCodeAt(0))
            const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
            return { type: file.type, text: await new Response(text).text() }
          }`
        return { code, meta: { origins: DOCS_FILES.map(originOf) } }
      },
    },
  }
}

async function deflated(name: string): Promise<[string, { type: string; deflated: string }]> {
  const { type, text } = await fileOf(name)
  return [name, { type, deflated: deflateRawSync(text, { level: 9 }).toString('base64') }]
}

function originOf(name: string): string {
  return fileURLToPath(docsFileUrl(name) ?? '')
}

async function fileOf(name: string): Promise<DocsFile> {
  const file = await readDocsFile(name)
  if (file === null) throw new Error(`${name} is not a file of the reference page`)
  return file
}

/** For workerd: in a folder of static assets, because a Worker compiles all of its modules when it starts. */
export function docsPageAssets(folder: string): Plugin {
  return {
    name: 'docs-page-assets',
    async generateBundle() {
      for (const name of DOCS_FILES) {
        const source = JSON.stringify(await fileOf(name))
        const fileName = `${folder}/${assetPath(name)}`
        this.emitFile({ type: 'asset', fileName, originalFileName: originOf(name), source })
      }
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
        importer?.endsWith('fronts/docs/lazy-files.ts') ? { id: './docs-page.js', external: true } : null,
    },
  }
}
