import { expect, test } from 'vitest'
import { lazy } from '../../../../src/shared/lib/lazy.ts'

test('lazy: loads once, on first use', async () => {
  let loads = 0
  const value = lazy(
    async () => ++loads,
    (load) => `load ${load}`,
  )

  expect(value.current).toBeUndefined()
  expect(await value.get()).toBe('load 1')
  expect(await value.get()).toBe('load 1')
  expect(value.current).toBe('load 1')
})

test('lazy: a load that failed is repeated', async () => {
  const outcomes = [Promise.reject(new Error('no such module')), Promise.resolve('loaded')]
  const value = lazy(
    async () => outcomes.shift(),
    (outcome) => outcome,
  )

  await expect(value.get()).rejects.toThrow('no such module')

  expect(await value.get()).toBe('loaded')
})

test('lazy: two first uses at the same time create one value', async () => {
  let created = 0
  const value = lazy(
    async () => {},
    () => ++created,
  )

  expect(await Promise.all([value.get(), value.get()])).toEqual([1, 1])
  expect(created).toBe(1)
})
