import { expect, test, vi } from 'vitest'
import { creationTimeOf, newId } from '../../../../src/shared/lib/new-id.ts'

test('newId: returns UUIDs of version 7, all different', () => {
  const ids = Array.from({ length: 1000 }, newId)

  expect(ids.filter((id) => !/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(1000)
})

test('newId: begins with the time in milliseconds, so that ids sort by it', ({ onTestFinished }) => {
  vi.useFakeTimers({ now: 0x0199_aabb_ccdd })
  onTestFinished(() => void vi.useRealTimers())

  const earlier = newId()
  vi.setSystemTime(0x0199_aabb_ccde)
  const later = newId()

  expect(earlier.startsWith('0199aabb-ccdd-7')).toBe(true)
  expect(earlier < later).toBe(true)
})

test('creationTimeOf: the run id of a new start contains its time, that of a continued run does not', () => {
  const ids = ['01a2014c-9bd9-740d-b794-c0b6d76c221c', '58f10cca-5598-4162-b1b9-74659713e454', '']

  expect(ids.map(creationTimeOf)).toEqual([Date.parse('2026-11-22T03:28:47.577Z'), null, null])
})
