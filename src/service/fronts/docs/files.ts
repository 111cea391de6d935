/**
 * The files of the reference page: our own, and Swagger UI's. Bundles contain their text instead of this file:
 * dev/build/baked-pages.ts.
 */
import { readFile } from 'node:fs/promises'
import type { PageFile } from '../../http/page-files.ts'
import { packedFile } from '../packed-file.ts'

const SWAGGER_UI = '../../../../node_modules/swagger-ui-dist/'

const PATHS = new Map([
  ['page.html', './page.html'],
  ['page.css', './page.css'],
  ['page.js', './page.js'],
  ['accessibility.js', './accessibility.js'],
  ['for-readers.js', './for-readers.js'],
  ['swagger-ui.css', `${SWAGGER_UI}swagger-ui.css`],
  ['swagger-ui-bundle.js', `${SWAGGER_UI}swagger-ui-bundle.js`],
  // The bundle refers to it.
  ['swagger-ui-bundle.js.LICENSE.txt', `${SWAGGER_UI}swagger-ui-bundle.js.LICENSE.txt`],
])

export const DOCS_FILES: readonly string[] = [...PATHS.keys()]

export async function readDocsFile(name: string): Promise<PageFile | null> {
  const url = docsFileUrl(name)
  return url === null ? null : packedFile(name, withoutSourceMap(await readFile(url, 'utf8')))
}

/** Returns where the text of a file comes from. */
export function docsFileUrl(name: string): URL | null {
  const path = PATHS.get(name)
  return path === undefined ? null : new URL(path, import.meta.url)
}

/** Source maps are not served; a browser's developer tools would request them. */
function withoutSourceMap(text: string): string {
  return text.replace(/\n(?:\/\/|\/\*)# sourceMappingURL=.*$/, '\n')
}
