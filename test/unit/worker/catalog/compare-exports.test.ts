import { expect, test } from 'vitest'
import { compareExports } from '../../../../src/worker/catalog/compare-exports.ts'
import { defineCatalog } from '../../../../src/worker/catalog/define-catalog.ts'

const warnings = (names: string[], exported: string[]) =>
  compareExports(defineCatalog(Object.fromEntries(names.map((name) => [name, {}]))), exported)

test('compareExports: says nothing if the catalog lists what the bundle exports', () => {
  expect(warnings(['a', 'b'], ['b', 'a'])).toEqual([])
  expect(warnings(['a'], ['a', 'interceptors'])).toEqual([])
})

test.for([
  ['refnd', '; did you mean "refund"?'],
  ['Refund', '; did you mean "refund"?'],
  ['refudn', '; did you mean "refund"?'],
  ['somethingElse', ''],
] as const)(
  'compareExports: a workflow that is not exported has a suggestion if one is similar: %s',
  ([name, hint]) => {
    expect(warnings(['refund', name], ['refund'])).toEqual([
      `The catalog lists "${name}", which the workflow bundle does not export: its runs cannot proceed${hint}`,
    ])
  },
)

test('compareExports: any name may run if the bundle has a default export', () => {
  expect(warnings(['anything'], ['default'])).toEqual([])
})

test('compareExports: lists at most ten exports that the catalog lacks', () => {
  const exported = Array.from({ length: 12 }, (_, at) => `w${at}`)

  expect(warnings([], exported)).toEqual([expect.stringMatching(/exports "w0", .*"w9" and 2 more, which the catalog/)])
})
