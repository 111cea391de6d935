/** Links, paths, symbols and scripts that the documents name exist. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { anchorsIn, proseOf } from '../../support/markdown.ts'
import { filesIn, isThere, textOf } from '../../support/repository.ts'
import { COMMENT, linksOf, markdownIn, pages } from './pages.ts'

/** As in `attachIds` (`src/service/model/attach-ids.ts`). */
const SYMBOL_IN_FILE = /`([A-Za-z_$][\w$]*)` \(`((?:src|test|dev|examples)\/[\w./-]+\.ts)`\)/g

test('docs: each relative link leads to a file, and to a heading of it', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  )

  expect(linksOf('README.md')).toContain('docs/configuration.md')
  expect(broken).toEqual([])
})

test('docs: each path they cite exists', () => {
  const cited = pages.flatMap((page) => pathsIn(page).map((path) => ({ page, path })))

  expect(cited.map(({ path }) => path)).toContain('src/service/model/commands.ts')
  expect(cited.filter(({ path }) => !isThere(path))).toEqual([])
})

test('docs: each symbol they cite stands in the file they cite for it', () => {
  const cited = pages.flatMap((page) =>
    [...proseOf(textOf(page)).matchAll(SYMBOL_IN_FILE)].map(([, symbol = '', file = '']) => ({ page, symbol, file })),
  )

  expect(cited.length).toBeGreaterThan(40)
  expect(cited.filter(({ symbol, file }) => !isThere(file) || !codeWords(file).has(symbol))).toEqual([])
})

test('docs/decisions: source files are cited by their whole path', () => {
  const bare = markdownIn('docs/decisions').flatMap((page) =>
    [...proseOf(textOf(page)).matchAll(/`[\w-]+\.ts`/g)].map(([name]) => `${page}: ${name}`),
  )

  expect(bare).toEqual([])
})

test('docs: each npm script they name is one', () => {
  const { scripts } = JSON.parse(textOf('package.json'))
  const named = pages.flatMap((page) => [...textOf(page).matchAll(/\bnpm (?:run )?((?<=run )[\w:-]+|start|test)/g)])

  expect(named.map(([, name]) => name)).toContain('dev')
  expect(named.filter(([, name = '']) => scripts[name] === undefined)).toEqual([])
})

test('llms.txt: links to every page of docs/ and deploy/', () => {
  const linked = new Set(linksOf('llms.txt'))
  const unlinked = [...markdownIn('docs'), ...markdownIn('deploy')].filter(
    (page) => !page.startsWith('docs/decisions/') && !linked.has(page),
  )

  expect(unlinked).toEqual([])
})

test('SKILL.md: begins with its name and a description, and has no link out of the package', () => {
  const { files } = JSON.parse(textOf('package.json'))
  const folders = linksOf('SKILL.md').map((link) => link.split(/[/#]/)[0])

  expect(textOf('SKILL.md')).toMatch(/^---\nname: [a-z-]{1,64}\ndescription: [^\n]{50,1024}\n---\n\n# /)
  expect(files).toEqual(expect.arrayContaining(['docs', 'llms.txt', 'SKILL.md']))
  // npm adds README.md to every package.
  expect(folders.filter((folder) => folder !== 'README.md' && !files.includes(folder))).toEqual([])
})

test('docs: each page that code names exists, and each heading', () => {
  const named = ['src', 'dev', 'test', 'lab', 'examples'].flatMap((folder) =>
    filesIn(folder, '.ts').flatMap((file) =>
      [...textOf(file).matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([link]) => ({ file, link })),
    ),
  )

  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ link }) => !leadsSomewhere('README.md', link))).toEqual([])
})

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : posix.join(posix.dirname(page), file)
  return isThere(target) && (anchor === undefined || anchorsIn(textOf(target)).has(anchor))
}

function pathsIn(page: string): string[] {
  return [
    ...proseOf(textOf(page)).matchAll(/`((?:src|test|docs|deploy|dev|examples|benchmarks|\.ci)\/[\w./-]*)`/g),
  ].map(([, path = '']) => path)
}

/** Every identifier in a file's code, comments left out. */
function codeWords(file: string): Set<string> {
  const code = textOf(file).replaceAll(COMMENT, '')
  return new Set(code.match(/[A-Za-z_$][\w$]*/g))
}
