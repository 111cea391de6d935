import { expect, test } from 'vitest'
import { createCatalogFilter } from '../../../../src/service/access/catalog-filter.ts'
import { entry } from '../openapi/typed/catalog-document.ts'
import { aGrant } from './guard-fixture.ts'

const ENTRIES = ['order', 'orders.pay', 'admin'].map((name) => entry(name))

const grantFor = (...workflows: string[]) => [aGrant({ workflows })]

test('createCatalogFilter: patterns that select the same entries get the same array (threat 57)', () => {
  const filter = createCatalogFilter()

  const selections = [['ord*'], ['ord*', 'x-1'], ['x-2', 'order', 'orders.*']].map((patterns) =>
    filter(ENTRIES, grantFor(...patterns)),
  )

  expect(selections[0]?.map(({ name }) => name)).toEqual(['order', 'orders.pay'])
  expect(new Set(selections).size).toBe(1)
})

test('createCatalogFilter: patterns that select everything get the catalog itself', () => {
  const filter = createCatalogFilter()

  expect([filter(ENTRIES, grantFor('*')), filter(ENTRIES, grantFor('o*', 'a*'))]).toEqual([ENTRIES, ENTRIES])
  expect(filter(ENTRIES, grantFor('o*', 'a*'))).toBe(ENTRIES)
})

test('createCatalogFilter: all selections together have a limit, by the size of their entries (threat 57)', () => {
  const filter = createCatalogFilter()
  const large = Array.from({ length: 20 }, (_, at) => entry(`w${at}`, { description: 'x'.repeat(500_000) }))
  const select = (at: number) => filter(large, grantFor(`w${at}`))

  const first = select(0)
  const isKept = select(0) === first
  for (let at = 1; at < large.length; at++) select(at)

  const last = select(19)

  expect([isKept, select(0) === first, select(19) === last]).toEqual([true, false, true])
})

test('createCatalogFilter: another version of the catalog has other arrays', () => {
  const filter = createCatalogFilter()

  const [one, other] = [filter(ENTRIES, grantFor('order')), filter([...ENTRIES], grantFor('order'))]

  expect(one).toEqual(other)
  expect(one).not.toBe(other)
})
