/** Checks that tests on real servers prove each row of `docs/what-happens-when.md`. */
import { expect, test } from 'vitest'
import { failureRows } from '../../support/promises.ts'
import { proofsOf } from '../../support/proofs.ts'
import { textOf } from '../../support/repository.ts'

const PAGE = 'docs/what-happens-when.md'
const rows = failureRows()
const proofs = proofsOf('failure')

/** The files with tests that prove the row. */
const textsOf = (row: number) =>
  [...new Set(proofs.filter(({ number }) => number === row).map(({ file }) => file))].map(textOf)

test(`${PAGE}: tests prove each row of its tables, and name no other`, () => {
  const numbers = [...new Set(proofs.map(({ number }) => number))]

  expect(rows.length).toBeGreaterThan(25)
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1))
  expect(numbers.toSorted((one, other) => one - other)).toEqual(rows.map(({ number }) => number))
})

test(`${PAGE}: no unit test proves a row`, () => {
  expect(proofs.filter(({ file }) => file.startsWith('test/unit/'))).toEqual([])
})

test(`${PAGE}: the errors and times of each row are those that its tests assert`, () => {
  const asserted = new Set(
    rows.flatMap(({ number }) =>
      textsOf(number)
        .flatMap((text) => [...text.matchAll(/promised(?:Error|Ms)\((\d+), '(.+?)'\)/g)])
        .map(([, row, promise]) => `${row}: ${promise}`),
    ),
  )
  const promises = rows.flatMap((row) => [...row.promises].map((promise) => `${row.number}: ${promise}`))

  expect(promises.length).toBeGreaterThan(40)
  expect([...asserted].toSorted()).toEqual(promises.toSorted())
})

// Fields, metrics, messages and variables; not a level, a path, or a word like `rejected`.
const IS_NAME = /[a-z][A-Z]|_| /

test(`${PAGE}: the names that a row quotes are in one of its tests`, () => {
  const missing = rows.flatMap(({ number, quoted }) => {
    const texts = textsOf(number)
    return quoted
      .map((name) => name.replace(' (…)', ''))
      .filter((name) => IS_NAME.test(name) && !texts.some((text) => text.includes(name)))
      .map((name) => `${number}: ${name}`)
  })

  expect(missing).toEqual([])
})
