import { expect, test } from 'vitest'
import { readListing } from '../../../../src/domain/catalog/read-catalog.ts'
import { aCall, refusal } from '../../call.ts'
import { aShelf } from '../catalog-fixture.ts'

function listed({ catalogs, now }: ReturnType<typeof aShelf>) {
  return readListing(catalogs, 'orders', aCall(), now)
}

test('readListing: is what is published, absent keys filled', async () => {
  const shelf = aShelf()
  shelf.publish('c1', [{ name: 'order', aliases: ['buy'] }])

  expect(await listed(shelf)).toMatchObject({
    catalog: 'orders',
    workflows: [{ name: 'order', aliases: ['buy'], inputSchema: null }],
  })
})

test('readListing: costs nothing while it is remembered', async () => {
  const shelf = aShelf()
  shelf.publish('c1', [{ name: 'order' }])
  await listed(shelf)
  shelf.pass(1000)

  await listed(shelf)

  expect(shelf.reads).toEqual(['describe $catalog:orders', 'input c1'])
})

test('readListing: says that nothing is published only of what was read for it', async () => {
  const shelf = aShelf()
  await refusal(listed(shelf))
  shelf.pass(1)
  shelf.publish('c1', [{ name: 'order' }])

  expect((await listed(shelf)).workflows).toHaveLength(1)
})

test('readListing: a run without a definition is no catalog to list', async () => {
  const shelf = aShelf()
  shelf.publish('c1', [{ name: 'order' }])
  shelf.engine.input = async () => null

  expect(await refusal(listed(shelf))).toEqual({
    error: 'CatalogNotFoundError',
    message: 'Catalog "orders" is not published',
  })
})
