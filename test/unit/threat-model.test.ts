/** Checks that tests prove each attack of `docs/threat-model.md`, and name no other. */
import { expect, test } from 'vitest'
import { chapterOf } from '../support/markdown.ts'
import { proofsOf } from '../support/proofs.ts'
import { textOf } from '../support/repository.ts'

const attacks = chapterOf(textOf('docs/threat-model.md'), 'Attacks')
  .split(/^#### /m)
  .slice(1)
  .map((section) => ({ number: Number.parseInt(section, 10), answer: section.split('\n\n')[1] ?? '' }))
const numbers = attacks.map(({ number }) => number).toSorted((one, other) => one - other)

test('docs/threat-model.md: each attack has a number of its own, and an answer', () => {
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  expect(attacks.filter(({ answer }) => !/\w/.test(answer))).toEqual([])
})

test('docs/threat-model.md: tests prove each attack, and name no other', () => {
  const proofs = proofsOf('threat')

  expect(proofs.length).toBeGreaterThan(300)
  expect([...new Set(proofs.map(({ number }) => number))].toSorted((one, other) => one - other)).toEqual(numbers)
})
