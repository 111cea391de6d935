/** What may have changed since the catalog or the poll was read. */
import { expect, test } from 'vitest'
import { rejection } from '../../call.ts'
import { makeCatalogs, publishedCatalogs } from '../catalog-fixture.ts'
import { AMOUNT, admitted } from './admitted.ts'

const AMOUNT_AND_CARD = { ...AMOUNT, required: ['amount', 'card'] }

test('admitStart: admits by cached data within the TTL', async () => {
  const fixture = makeCatalogs({ ttlMs: 5000 })
  fixture.publish('c1', [{ name: 'order' }])
  await admitted(fixture)
  fixture.pass(4999)

  await admitted(fixture)

  expect(fixture.reads).toEqual(['describe $catalog:orders', 'input c1'])
})

test('admitStart: admits a name that was published since the cached read', async () => {
  const fixture = publishedCatalogs()
  await admitted(fixture)
  fixture.pass(1)
  fixture.publish('c2', [{ name: 'refund' }])

  expect(await admitted(fixture, { workflowName: 'refund' })).toMatchObject({ workflowName: 'refund' })
})

test('admitStart: admits an input that the schema accepts since the cached read', async () => {
  const fixture = publishedCatalogs([{ name: 'order', inputSchema: AMOUNT_AND_CARD }])
  await admitted(fixture, { args: [{ amount: 1, card: '1' }] })
  fixture.pass(1)
  fixture.publish('c2', [{ name: 'order', inputSchema: AMOUNT }])

  expect(await admitted(fixture, { args: [{ amount: 1 }] })).toMatchObject({ workflowName: 'order' })
})

test('admitStart: does not reject by a cached poll', async () => {
  const fixture = makeCatalogs()
  await rejection(admitted(fixture))
  fixture.pass(1)
  fixture.poll()

  expect(await admitted(fixture)).toMatchObject({ workflowName: 'order' })
})

test('admitStart: does not reject by a cached poll after the catalog was just read', async () => {
  const fixture = makeCatalogs({ ttlMs: 5000 })
  await fixture.catalogs.published('orders')
  fixture.pass(4000)
  await fixture.catalogs.lastPolledAt('orders')
  fixture.pass(1000)
  fixture.poll()

  expect(await admitted(fixture)).toMatchObject({ workflowName: 'order' })
})

test('admitStart: does not reject by a cached missing catalog', async () => {
  const fixture = makeCatalogs()
  fixture.poll()
  await admitted(fixture, { workflowName: 'anything' })
  fixture.pass(75_000)
  await rejection(admitted(fixture))
  fixture.pass(1)
  fixture.publish('c1', [{ name: 'order' }])

  expect(await admitted(fixture)).toMatchObject({ workflowName: 'order' })
})

test('admitStart: does not admit by a cached missing catalog', async () => {
  const fixture = makeCatalogs()
  fixture.poll()
  await admitted(fixture, { workflowName: 'anything' })
  fixture.pass(1)
  fixture.publish('c1', [{ name: 'order', aliases: ['buy'] }])

  expect(await admitted(fixture, { workflowName: 'buy' })).toMatchObject({ workflowName: 'order' })
  expect((await rejection(admitted(fixture, { workflowName: 'anything' }))).error).toBe('UnsupportedWorkflowError')
})

test('admitStart: finds a catalog that was published between the reads of catalog and poll', async () => {
  const fixture = makeCatalogs()
  const { lastPolledAt } = fixture.engine
  fixture.engine.lastPolledAt = async (...args) => {
    fixture.publish('c1', [{ name: 'order' }])
    fixture.poll()
    fixture.pass(1)
    return lastPolledAt(...args)
  }

  expect((await rejection(admitted(fixture, { workflowName: 'anything' }))).error).toBe('UnsupportedWorkflowError')
})

test('admitStart: without a catalog, each start reads both of its forms again', async () => {
  const fixture = makeCatalogs()
  fixture.poll()
  await admitted(fixture)
  fixture.pass(1)
  fixture.reads.length = 0

  await admitted(fixture)

  expect(fixture.reads).toEqual(['describe $catalog:orders', 'describe orders'])
})

test('admitStart: does not reject when only one of the two reads is current', async () => {
  const fixture = makeCatalogs()
  await fixture.catalogs.published('orders')
  fixture.pass(1)
  fixture.publish('c1', [{ name: 'order' }])

  expect(await admitted(fixture)).toMatchObject({ workflowName: 'order' })
})

test('admitStart: rejects without another read when the data is current', async () => {
  const fixture = publishedCatalogs()

  await rejection(admitted(fixture, { workflowName: 'nope' }))

  expect(fixture.reads).toEqual(['describe $catalog:orders'])
})

test('admitStart: reads once more before it rejects by cached data', async () => {
  const fixture = publishedCatalogs()
  await admitted(fixture)
  fixture.pass(1)
  fixture.reads.length = 0

  await rejection(admitted(fixture, { workflowName: 'nope' }))

  expect(fixture.reads).toEqual(['describe $catalog:orders'])
})

test('admitStart: passes on an error of the engine', async () => {
  const fixture = makeCatalogs()
  fixture.engine.describe = () => Promise.reject(new Error('a bug'))

  await expect(admitted(fixture)).rejects.toThrow('a bug')
})
