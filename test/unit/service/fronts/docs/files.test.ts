import { expect, test } from 'vitest'
import { DOCS_FILES, readDocsFile } from '../../../../../src/service/fronts/docs/files.ts'
import { pageTexts } from '../../../../support/page-texts.ts'

const texts = await pageTexts(DOCS_FILES, readDocsFile)

test('reference page: every file that it loads is one of its own (threat 62)', () => {
  const page = texts.get('page.html') ?? ''
  const loaded = [...page.matchAll(/ (?:src|href)="(?!data:)([^"]+)"/g)].map(([, path]) => path)

  expect(loaded.toSorted()).toEqual([
    'docs/page.css',
    'docs/page.js',
    'docs/swagger-ui-bundle.js',
    'docs/swagger-ui.css',
    'openapi.json',
  ])
  expect(DOCS_FILES.map((name) => `docs/${name}`)).toEqual(
    expect.arrayContaining(loaded.filter((path) => path !== 'openapi.json')),
  )
})

test('reference page: no file names a source map, which would be requested', () => {
  expect([...texts].filter(([, text]) => text === '' || text.includes('sourceMappingURL'))).toEqual([])
})

test('reference page: a name that it does not have is not read from the disk (threat 62)', async () => {
  const found = await Promise.all(['files.ts', '../files.ts', '', 'constructor'].map(readDocsFile))
  expect(found).toEqual([null, null, null, null])
})
