import { expect, test } from 'vitest'
import type { SearchAttributeType } from '../../../../src/service/model/run-filter.ts'
import { createSearchAttributes } from '../../../../src/service/runs/search-attributes.ts'
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

const alone = (value: unknown) => ({ type: null, value })

test('search attributes: a time alone is rewritten for a start if the attribute is registered as a time', async () => {
  const { registered, attributes, reads } = changing()
  registered.set('Due', 'datetime')
  const given = {
    Due: alone('2026-03-01 12:00+0000'),
    Customer: alone('2026-03-01 12:00+0000'),
    Missing: alone('2026-03-01 12:00z'),
    Lines: alone(2),
  }

  const sent = await attributes.withEngineTimes(given, aCall())

  expect(sent).toEqual({ ...given, Due: alone('2026-03-01T12:00:00+00:00') })
  expect(reads()).toBe(1)
})

test('search attributes: nothing is read for a start without a time alone of another form', async () => {
  const { attributes, reads } = changing()
  const given = {
    Due: alone('2026-03-01T12:00:00.5+01:00'),
    Typed: { type: 'keyword' as const, value: '2026-03-01 12:00+0000' },
    Day: alone('2026-02-30 12:00Z'),
    Customer: alone('gold'),
  }

  expect(await attributes.withEngineTimes(given, aCall())).toBe(given)
  expect(reads()).toBe(0)
})

test('search attributes: a time alone stays as it is if the types cannot be read', async () => {
  const searchAttributeTypes = () => Promise.reject(new Error('withheld'))
  const attributes = createSearchAttributes({ engine: { searchAttributeTypes } })

  const sent = await attributes.withEngineTimes({ Due: alone('2026-03-01 12:00z') }, aCall())

  expect(sent).toEqual({ Due: alone('2026-03-01 12:00z') })
})
