/** The generated sections of the documents are what `npm run docs` writes. */
import { expect, test } from 'vitest'
import { withSections } from '../../../dev/docs/sections.ts'
import { textOf } from '../../support/repository.ts'
import { markdownIn } from './pages.ts'

test('docs: the generated sections are current: npm run docs', async () => {
  const stale: string[] = []
  let sections = 0
  for (const page of markdownIn('docs')) {
    const text = textOf(page)
    sections += text.split('<!-- generated: ').length - 1
    if ((await withSections(page.replace('docs/', ''), text)) !== text) stale.push(page)
  }

  expect(sections).toBeGreaterThan(25)
  expect(stale).toEqual([])
})
