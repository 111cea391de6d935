/** Checks that the tests which `docs/threat-model.md` names exist, and that it names those that refer to it. */
import { expect, test } from 'vitest'
import { chapterOf } from '../support/markdown.ts'
import { filesIn, isThere, textOf } from '../support/repository.ts'

interface Attack {
  number: number
  answer: string
  tests: NamedTest[]
}

interface NamedTest {
  file: string
  title: string
}

const attacks = attacksIn(chapterOf(textOf('docs/threat-model.md'), 'Attacks'))

test('docs/threat-model.md: each attack has a number of its own, an answer and a test', () => {
  const numbers = attacks.map(({ number }) => number)

  expect(numbers.toSorted((one, other) => one - other)).toEqual(numbers.map((_, index) => index + 1))
  expect(attacks.filter(({ answer, tests }) => answer === '' || tests.length === 0)).toEqual([])
})

test('docs/threat-model.md: each test that it names exists', () => {
  const named = attacks.flatMap(({ tests }) => tests)

  expect(named.length).toBeGreaterThan(300)
  expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
})

test('docs/threat-model.md: names below each attack the tests that refer to its number', () => {
  const referring = filesIn('test', '.ts').flatMap((file) =>
    [...textOf(file).matchAll(/(['"`])([^\n]*? \(threats? (\d+(?:, \d+)*).*?\))\1/g)].flatMap(
      ([, , title = '', numbers = '']) => numbers.split(',').map((number) => ({ file, title, number: Number(number) })),
    ),
  )
  const unnamed = referring.filter(({ file, title, number }) => {
    const attack = attacks.find((one) => one.number === number)
    return !attack?.tests.some((one) => one.file === file && one.title === title)
  })

  expect(referring.length).toBeGreaterThan(70)
  expect(unnamed).toEqual([])
})

function attacksIn(text: string): Attack[] {
  return text
    .split(/^#### /m)
    .slice(1)
    .map((section) => ({
      number: Number.parseInt(section, 10),
      answer: section.split('\n\n')[1] ?? '',
      tests: [...section.matchAll(/^- `(test\/\S+)`: (.+)$/gm)].flatMap(([, file = '', titles = '']) =>
        [...titles.matchAll(/"(.+?)"(?=; "|$)/g)].map(([, title = '']) => ({ file, title })),
      ),
    }))
}

/** The title as a string literal; the formatter decides which quotes it has. */
function hasTest(file: string, title: string): boolean {
  if (!isThere(file)) return false
  const text = textOf(file)
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote},`))
}
