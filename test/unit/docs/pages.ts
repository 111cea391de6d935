/** The pages of the documentation. */
import { relativeLinks } from '../../support/markdown.ts'
import { filesIn, textOf } from '../../support/repository.ts'

export const pages = [
  'README.md',
  'SKILL.md',
  'llms.txt',
  'AGENTS.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...markdownIn('docs'),
  ...markdownIn('deploy'),
]

export function markdownIn(folder: string): string[] {
  return filesIn(folder, '.md')
}

export function linksOf(page: string): string[] {
  return relativeLinks(textOf(page))
}

export const COMMENT = /\/\*.*?\*\/|(?<=^|\s)\/\/[^\n]*/gs
