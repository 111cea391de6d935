import { expect, test } from 'vitest'
import { readCatalog } from '../../../../src/domain/catalog/catalogs.ts'
import { aCall, rejection } from '../../call.ts'
import { makeCatalogs, publishedCatalogs } from '../catalog-fixture.ts'

function listed({ catalogs, now }: ReturnType<typeof makeCatalogs>) {
  return readCatalog({ catalogs, now }, 'orders', aCall())
}

test('readCatalog: returns the published workflows, with absent fields filled in', async () => {
  const fixture = publishedCatalogs([{ name: 'order', aliases: ['buy'] }])

  expect(await listed(fixture)).toMatchObject({
    catalog: 'orders',
    workflows: [{ name: 'order', aliases: ['buy'], inputSchema: null }],
  })
})

test('readCatalog: makes no calls while the catalog is cached', async () => {
  const fixture = publishedCatalogs()
  await listed(fixture)
  fixture.pass(1000)

  await listed(fixture)

  expect(fixture.reads).toEqual(['describe $catalog:orders', 'input c1'])
})

test('readCatalog: returns the same array until another run holds the catalog', async () => {
  const fixture = publishedCatalogs()
  const first = await listed(fixture)
  fixture.pass(60_000)
  const later = await listed(fixture)
  fixture.publish('c2', [{ name: 'order' }])
  fixture.pass(60_000)

  expect(later.workflows).toBe(first.workflows)
  expect((await listed(fixture)).workflows).not.toBe(first.workflows)
})

test('readCatalog: reads again before it reports that nothing is published', async () => {
  const fixture = makeCatalogs()
  await rejection(listed(fixture))
  fixture.pass(1)
  fixture.publish('c1', [{ name: 'order' }])

  expect((await listed(fixture)).workflows).toHaveLength(1)
})

test('readCatalog: a run without a definition counts as not published', async () => {
  const fixture = publishedCatalogs()
  fixture.engine.input = async () => ({ workflowName: '$catalog', args: [] })

  expect(await rejection(listed(fixture))).toEqual({
    error: 'CatalogNotFoundError',
    message: 'Catalog "orders" is not published',
  })
})
