/** Writes the generated sections of the documents: `npm run docs`. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { withSections } from './sections.ts'

const DOCS = new URL('../../docs/', import.meta.url)

for (const page of await readdir(DOCS, { recursive: true })) {
  if (!page.endsWith('.md')) continue
  const text = await readFile(new URL(page, DOCS), 'utf8')
  const written = await withSections(page, text)
  if (written !== text) await writeFile(new URL(page, DOCS), written)
}
