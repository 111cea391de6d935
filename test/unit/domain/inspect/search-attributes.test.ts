import { expect, test } from 'vitest'
import { createSearchAttributes } from '../../../../src/domain/inspect/search-attributes.ts'
import type { SearchAttributeType } from '../../../../src/domain/model/run-filter.ts'
import { aCall, rejection } from '../../call.ts'

/** An engine whose search attributes change, and how often they were read. */
function changing() {
  const registered = new Map<string, SearchAttributeType>([['Customer', 'keyword']])
  const clock = { now: 1_000_000 }
  let reads = 0
  const searchAttributeTypes = async () => {
    reads++
    return new Map(registered)
  }
  const attributes = createSearchAttributes({ engine: { searchAttributeTypes }, now: () => clock.now })
  const resolve = (name: string) =>
    attributes.resolve({ status: 'running', searchAttributes: { [name]: 'x' } }, aCall())
  return { registered, clock, resolve, attributes, reads: () => reads }
}

test('search attributes: get their types, which are read once a minute', async () => {
  const { clock, resolve, reads } = changing()

  const resolved = await resolve('Customer')
  await resolve('Customer')
  clock.now += 60_001
  await resolve('Customer')

  expect(resolved).toEqual({ status: 'running', searchAttributes: [{ name: 'Customer', type: 'keyword', value: 'x' }] })
  expect(reads()).toBe(2)
})

test('search attributes: nothing is read for a filter without them', async () => {
  const { attributes, reads } = changing()

  expect(await attributes.resolve({ catalog: 'orders' }, aCall())).toEqual({ catalog: 'orders', searchAttributes: [] })
  expect(reads()).toBe(0)
})

test('search attributes: one is only rejected after a fresh read', async () => {
  const { registered, clock, resolve, reads } = changing()
  await resolve('Customer')
  clock.now += 1
  registered.set('New', 'int')

  const added = await resolve('New')
  clock.now += 1
  const rejected = await rejection(resolve('toString'))

  expect(added.searchAttributes).toEqual([{ name: 'New', type: 'int', value: 'x' }])
  expect(rejected).toMatchObject({ error: 'ValidationError', issues: [{ path: '/searchAttributes/toString' }] })
  expect(reads()).toBe(3)
})
