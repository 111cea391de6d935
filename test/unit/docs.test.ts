/** Checks statements of the documents against the repository: links, paths, symbols, messages, defaults, words. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { firstSteps } from '../../dev/first-steps.ts'
import { ENDPOINTS } from '../../src/http/endpoints/endpoints.ts'
import { anchorsIn, chapterOf, codeBlocks, namedFiles, proseOf, relativeLinks } from '../support/markdown.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** As in `attachIds` (`src/domain/model/attach-ids.ts`). */
const SYMBOL_IN_FILE = /`([A-Za-z_$][\w$]*)` \(`((?:src|test|dev|examples)\/[\w./-]+\.ts)`\)/g

const pages = [
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

  expect(cited.map(({ path }) => path)).toContain('src/domain/model/workflows.ts')
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

/**
 * Phrases that documents and comments must not contain, each row with what to write instead. These words are worth a
 * second look too, but have ordinary meanings as well: tell, ask, look, has not, trouble, fault, refused, cut, hidden,
 * repeatable, passing, answer (for a result), text (for a string), least, most, who (without a noun).
 */
const RETIRED: readonly [write: string, phrases: readonly string[]][] = [
  ['request, report, throw, log, return', ['is told', 'are told', 'was told', 'is asked', 'are asked', 'asked for']],
  ['describe, read, check, lookup', ['looks again', 'look again', 'looked at', 'is looked for', 'look-up', 'look-ups']],
  ['available, supported, is looked up', ['to be had', 'can be had', 'is had', 'be of use']],
  ['as it is, unchanged', ['served as it is', 'served as they are']],
  ['not a, without, missing, does not exist', ['is no valid', 'is no uuid', 'lacking', 'is none']],
  ['error, failure, warning, outage', ['passing trouble', 'in trouble', 'unforeseen']],
  ['rejected, truncated, redacted', ['cut off', 'gives it up']],
  ['transient, retry, attempt', ['in passing', 'each try', 'every try', 'tried again']],
  ['continues as a new run, keeps running', ['went on under', 'goes on', 'went on', 'go on as']],
  ['response, result, value, outcome', ['what came of it', 'what it came to', 'has come to', 'how it is']],
  ['maximum, at most', ['its greatest']],
  ['because, therefore, so that', [', for it']],
  ['a client that waits', ['who waits', 'who builds']],
]

test('docs: no document and no comment in src/ and dev/ contains a retired phrase', () => {
  const documents = pages.filter((page) => page !== 'CHANGELOG.md' && !page.startsWith('deploy/'))
  const sources = [...filesIn('src', '.ts'), ...filesIn('dev', '.ts')]
  const tests = filesIn('test', '.ts')
  const texts = [
    ...documents.map((page) => [page, textOf(page)] as const),
    ...sources.map((file) => [file, commentsOf(file)] as const),
    ...tests.map((file) => [file, `${commentsOf(file)}\n${titlesOf(file)}`] as const),
  ]
  const retired = RETIRED.flatMap(([write, phrases]) => phrases.map((phrase) => ({ phrase, write })))
  const found = texts.flatMap(([name, text]) => {
    const prose = withoutCode(text).replaceAll(/\s+/g, ' ').toLowerCase()
    return retired
      .filter(({ phrase }) => wholePhrase(phrase).test(prose))
      .map(({ phrase, write }) => `${name}: "${phrase}", write: ${write}`)
  })

  expect(retired.length).toBeGreaterThan(30)
  expect(sources.length).toBeGreaterThan(200)
  expect(tests.length).toBeGreaterThan(200)
  expect(found).toEqual([])
})

test('docs: each message they quote stands in the source', () => {
  const source = filesIn('src', '.ts').map(textOf).join('\n')
  const quoted = ['docs/api.md', 'docs/limits-and-logs.md'].flatMap((page) =>
    [...proseOf(textOf(page)).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code).filter(isSentence),
  )
  // Without what varies: elided text, placeholders, numbers, and the parts that the code puts together.
  const parts = quoted
    .flatMap((message) => message.split(/…|<[^>]*>|\d+|(?=: names are lost)|[;()]|(?<=could not be)/))
    .map((part) => part.trim())

  expect(quoted.length).toBeGreaterThan(5)
  expect(parts.filter((part) => part.length > 8 && !source.includes(part))).toEqual([])
})

test('docs: no page needs HTML to be read', () => {
  const html = pages.flatMap((page) =>
    [...withoutCode(textOf(page)).matchAll(/<\/?[a-z][^>\n]*>|&[a-z]+;/gi)].map(([tag]) => `${page}: ${tag}`),
  )

  expect(html).toEqual([])
})

test('llms.txt: has a title, a summary, and lists of links with a description each', () => {
  const [title, summary, text, ...lists] = textOf('llms.txt').trimEnd().split('\n\n')
  const items = lists.filter((block) => !block.startsWith('## ')).flatMap((block) => block.split('\n'))

  expect([title, summary?.slice(0, 2), text?.startsWith('#')]).toEqual(['# Portico', '> ', false])
  expect(items.filter((item) => !/^- \[[^\]]+\]\([^)]+\): \S/.test(item))).toEqual([])
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

test('docs: AGENTS.md has at most 1100 words, in lines of at most 120 columns', () => {
  const text = textOf('AGENTS.md')
  const words = text.split(/\s+/).filter((word) => /\w/.test(word))

  expect(words.length).toBeLessThanOrEqual(1100)
  expect(text.split('\n').filter((line) => line.length > 120)).toEqual([])
})

test('docs: no two pages of docs/decisions have one number, and each says question, answer, why and loss', () => {
  const decisions = markdownIn('docs/decisions')
  const incomplete = decisions.filter((page) => {
    const parts = [...textOf(page).matchAll(/^\*\*(.+?)\.\*\*/gm)].map(([, part]) => part)
    return parts.join() !== 'Question,Answer,Why,What we gave up'
  })

  const numbers = decisions.map((page) => Number(posix.basename(page).slice(0, 3)))
  expect(numbers.filter((number, index) => !Number.isInteger(number) || numbers.indexOf(number) !== index)).toEqual([])
  expect(incomplete).toEqual([])
})

test('docs/compatibility.md: each test it names exists', () => {
  const rows = textOf('docs/compatibility.md').matchAll(/Test: ((?:`[^`/]+`(?:, )?)+)/g)
  const named = [...rows].flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  const files = readdirSync(join(ROOT, 'test/compatibility')).filter((file) => file.endsWith('.ts'))
  const titles = files.flatMap((file) => [...textOf(`test/compatibility/${file}`).matchAll(/ test\('([^:']+):/g)])
  const existing = new Set(titles.map(([, subject]) => subject))

  expect(new Set(named).size).toBeGreaterThan(25)
  expect(named.filter((name) => !existing.has(name))).toEqual([])
})

test('docs/ai-sdk.md: its transport is examples/chat-transport.ts', () => {
  const shown = namedFiles(textOf('docs/ai-sdk.md')).get('chat-transport.ts') ?? ''

  const example = textOf('examples/chat-transport.ts')
  // Without the comment at its beginning.
  expect(shown.replace(/^.*\n/, '').trim()).toBe(example.slice(example.indexOf('import ')).trim())
})

test('README.md: has at most 1200 words', () => {
  const words = textOf('README.md')
    .split(/\s+/)
    .filter((word) => /\w/.test(word))

  expect(words.length).toBeLessThanOrEqual(1200)
})

test('docs/workers.md and README.md: their worker is the one of examples/, shortened', () => {
  const files = namedFiles(textOf('docs/workers.md'))
  const shown = namedFiles(textOf('README.md'))

  expect([...files.keys()]).toEqual(['workflows.ts', 'catalog.ts', 'worker.ts'])
  expect([...shown]).toEqual([...files].filter(([name]) => name !== 'workflows.ts'))
  for (const [name, code] of files)
    expect(
      notIn(withoutActivities(codeOf(`examples/${name}`)), withoutComments(code)),
      `lines missing in examples/${name}`,
    ).toEqual([])
})

test('docs/client.md: its code is that of examples/typed-client.ts', () => {
  const example = codeOf('examples/typed-client.ts')
  const blocks = codeBlocks(textOf('docs/client.md'), 'ts').map(withoutComments)
  const lines = blocks.flatMap((block) => block.filter((line) => !/^(?:import|const client =)/.test(line)))

  expect(lines.length).toBeGreaterThan(20)
  expect(lines.filter((line) => !example.includes(line))).toEqual([])
})

test('docs/client.md: its code of streams is compiled', () => {
  const compiled = codeOf('test/unit/client/types.test.ts')
  const lines = codeBlocks(textOf('docs/client.md'), 'typescript').flatMap(withoutComments)

  expect(lines.length).toBeGreaterThan(7)
  expect(notIn(compiled, lines)).toEqual([])
})

test('docs/how-do-i.md: its program is examples/rerun-failed.ts', () => {
  const [block = ''] = codeBlocks(chapterOf(textOf('docs/how-do-i.md'), 'Run failed runs again'), 'ts')
  const lines = withoutComments(block).filter((line) => !/^(?:import|const client =)/.test(line))

  expect(lines.length).toBeGreaterThan(5)
  expect(notIn(codeOf('examples/rerun-failed.ts'), lines)).toEqual([])
})

test('README.md: its requests are those that npm run dev prints', () => {
  const facts = { withToken: false, docs: false, uiUrl: null, chatPageUrl: 'http://127.0.0.1:3002/' }
  const printed = firstSteps('http://127.0.0.1:3001', facts).match(/^ {2}curl .*$/gm) ?? []
  const requests = codeBlocks(chapterOf(textOf('README.md'), 'Quick start'), 'sh').flatMap(
    (block) => block.match(/^curl .*$/gm) ?? [],
  )

  expect(requests).toEqual(printed.map((line) => line.trim()))
  expect(requests).toHaveLength(3)
})

test('README.md: says once which Node.js is needed, the one of package.json', () => {
  const versions = [...textOf('README.md').matchAll(/\bNode(?:\.js)? (\d+\.\d+|\d+ or newer)/g)].map(
    ([, version]) => `>=${version}`,
  )

  expect(versions).toEqual([JSON.parse(textOf('package.json')).engines.node])
})

test('docs/api.md: its table has every endpoint', () => {
  const declared = ENDPOINTS.filter(({ path }) => !path.includes('/runs/:rid/') && path !== '/docs/:file')

  expect(declared.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(
    documentedEndpoints(),
  )
})

test('docs/api.md: has the section that each endpoint names', () => {
  const anchors = anchorsIn(textOf('docs/api.md'))

  expect(ENDPOINTS.filter(({ docs }) => !anchors.has(docs)).map(({ id }) => id)).toEqual([])
})

/** The rows of its table. One row may have several paths. */
function documentedEndpoints(): string[] {
  const rows = [...textOf('docs/api.md').matchAll(/^\| (GET|POST|PATCH) \| (\[`\/[^|]*) \|/gm)]
  const endpoints = rows.flatMap(([, method, paths = '']) =>
    [...paths.matchAll(/`(\/[^`]+)`/g)].map(([, path]) => `${method} ${path}`),
  )
  return endpoints.toSorted()
}

test('README.md: the variables have the defaults that docs/configuration.md says', () => {
  const documented = defaultsIn('docs/configuration.md')
  const shown = defaultsIn('README.md')

  expect(shown.size).toBeGreaterThan(5)
  for (const [name, value] of shown) expect([name, value]).toEqual([name, documented.get(name)])
})

function markdownIn(folder: string): string[] {
  return filesIn(folder, '.md')
}

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .toSorted()
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function linksOf(page: string): string[] {
  return relativeLinks(textOf(page))
}

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

const COMMENT = /\/\*.*?\*\/|(?<=^|\s)\/\/[^\n]*/gs

function commentsOf(file: string): string {
  const comments = textOf(file).match(COMMENT) ?? []
  return comments.map((comment) => comment.replaceAll(/^\s*(?:\/?\*+|\/\/)/gm, '')).join('\n')
}

/** Of its tests and suites. */
function titlesOf(file: string): string {
  const titles = textOf(file).matchAll(/^\s*(?:test|it|describe)[\w.]*(?:\([^'"`\n]*\))?\(\s*(['"`])(.*?)\1/gm)
  return [...titles].map(([, , title]) => title).join('\n')
}

/** Every identifier in a file's code, comments left out. */
function codeWords(file: string): Set<string> {
  const code = textOf(file).replaceAll(COMMENT, '')
  return new Set(code.match(/[A-Za-z_$][\w$]*/g))
}

/** At least four words in a row: a message, not a name or a value. */
function isSentence(code: string): boolean {
  return /(?:[a-z']{2,} ){3}[a-z(]/i.test(code)
}

/** Prose only: code may quote a response or a name that contains a retired word. */
function withoutCode(text: string): string {
  return proseOf(text).replaceAll(/`[^`\n]*`/g, '`code`')
}

/** A phrase that is not part of longer words: `be of use` does not occur in `maybe of use`. */
function wholePhrase(phrase: string): RegExp {
  const start = /^\w/.test(phrase) ? '(?<![\\w-])' : ''
  return new RegExp(`${start}${phrase}(?![\\w-])`)
}

function isThere(path: string): boolean {
  return existsSync(join(ROOT, path))
}

/** An example as a user's project contains it, without comments. */
function codeOf(path: string): string[] {
  return withoutComments(textOf(path).replaceAll("'../src/worker/index.ts'", "'portico/worker'"))
}

function withoutActivities(lines: string[]): string[] {
  return lines.filter((line) => !line.includes("'./activities.ts'")).map((line) => line.replace(' activities,', ''))
}

function withoutComments(code: string): string[] {
  return linesOf(code).filter((line) => !line.startsWith('//'))
}

function linesOf(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The wanted lines that `lines` does not contain in the same order. */
function notIn(lines: string[], wanted: string[]): string[] {
  let at = 0
  return wanted.filter((line) => {
    const found = lines.indexOf(line, at)
    if (found !== -1) at = found + 1
    return found === -1
  })
}

/** The second column of tables of variables, by name. */
function defaultsIn(page: string): Map<string, string> {
  return new Map(
    [...textOf(page).matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)` \| ([^|]+) \|/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  )
}
