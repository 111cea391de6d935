import { expect, test } from 'vitest'
import { readCatalog } from '../../../../src/service/catalog/catalogs.ts'
import { aCall, rejection } from '../../call.ts'
import { makeCatalogs, publishedCatalogs } from '../catalog-fixture.ts'

function listed({ catalogs, now }: ReturnType<typeof makeCatalogs>) {
  return readCatalog({ catalogs, now }, { catalog: 'orders' }, aCall())
}

test('readCatalog: returns the same array until another run holds the catalog', async () => {
  const fixture = publishedCatalogs()
  const first = await listed(fixture)
  fixture.pass(60_000)
  const later = await listed(fixture)
  fixture.publish('c2', [{ name: 'order' }])
  fixture.pass(60_000)

  expect([later.workflows, later.activities]).toEqual([first.workflows, []])
  expect(later.workflows).toBe(first.workflows)
  expect(later.activities).toBe(first.activities)
  expect((await listed(fixture)).workflows).not.toBe(first.workflows)
})

test('readCatalog: a catalog may describe activities alone', async () => {
  const { workflows, activities } = await listed(publishedCatalogs([], { activities: [{ name: 'charge' }] }))

  const unknown = { description: null, inputSchema: null, inputOptional: null, outputSchema: null }
  expect([workflows, activities]).toEqual([[], [{ name: 'charge', ...unknown }]])
})

test('readCatalog: reads again before it reports that nothing is published', async () => {
  const fixture = makeCatalogs()
  await rejection(listed(fixture))
  fixture.pass(1)
  fixture.publish('c1', [{ name: 'order' }])

  expect((await listed(fixture)).workflows).toHaveLength(1)
})
