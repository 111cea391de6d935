/** The words, the length and the form of the documents, and the words of comments and titles of tests. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { proseOf } from '../../support/markdown.ts'
import { filesIn, textOf } from '../../support/repository.ts'
import { COMMENT, markdownIn, pages } from './pages.ts'

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
  ['rejected, truncated, redacted', ['cut off', 'gives it up', 'refuse', 'refuses', 'is refused', 'are refused']],
  ['transient, retry, attempt', ['in passing', 'each try', 'every try', 'tried again']],
  ['continues as a new run, keeps running', ['went on under', 'goes on', 'went on', 'go on as']],
  ['response, result, value, outcome', ['what came of it', 'what it came to', 'has come to', 'how it is']],
  ['maximum, at most', ['its greatest']],
  ['because, therefore, so that', [', for it']],
  ['a client that waits, no caller, no worker', ['who waits', 'who builds', 'nobody']],
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

test('docs: no page has more than 5000 words, and all together at most 85,000', () => {
  const counted = pages.filter((page) => page !== 'llms.txt' && !page.startsWith('deploy/'))
  const words = counted.map((page) => [page, textOf(page).trim().split(/\s+/).length] as const)

  expect(words.filter(([, count]) => count > 5000)).toEqual([])
  expect(words.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(85_000)
})

test('README.md: has at most 1200 words', () => {
  const words = textOf('README.md')
    .split(/\s+/)
    .filter((word) => /\w/.test(word))

  expect(words.length).toBeLessThanOrEqual(1200)
})

function commentsOf(file: string): string {
  const comments = textOf(file).match(COMMENT) ?? []
  return comments.map((comment) => comment.replaceAll(/^\s*(?:\/?\*+|\/\/)/gm, '')).join('\n')
}

/** Of its tests and suites. */
function titlesOf(file: string): string {
  const titles = textOf(file).matchAll(/^\s*(?:test|it|describe)[\w.]*(?:\([^'"`\n]*\))?\(\s*(['"`])(.*?)\1/gm)
  return [...titles].map(([, , title]) => title).join('\n')
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
