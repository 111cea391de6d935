import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTrouble } from '../../../src/worker/trouble.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('trouble: the same is logged once a minute, with how often it was', () => {
  const { trouble, logged } = makeTrouble()

  for (let second = 0; second < 60; second++) {
    trouble('down')
    vi.advanceTimersByTime(1000)
  }
  trouble('something else')

  expect(logged).toEqual([
    ['down', { times: 1 }],
    ['down', { times: 59 }],
    ['something else', { times: 1 }],
  ])
})

test('trouble: all that was dropped is told, also when it stops within the minute', () => {
  const { trouble, logged } = makeTrouble()

  for (const dropped of [1, 20, 300]) trouble('dropped', { dropped, maxBytes: 5 })
  vi.advanceTimersByTime(180_000)
  trouble('dropped', { dropped: 4000, maxBytes: 5 })

  expect(logged).toEqual([
    ['dropped', { dropped: 1, maxBytes: 5, times: 1 }],
    ['dropped', { dropped: 320, maxBytes: 5, times: 2 }],
    ['dropped', { dropped: 4000, maxBytes: 5, times: 1 }],
  ])
})

test('trouble: what is not told yet is told at the end', () => {
  const { trouble, tellAll, logged } = makeTrouble()

  for (const dropped of [1, 20, 300]) trouble('dropped', { dropped })
  tellAll()
  vi.advanceTimersByTime(60_000)

  expect(logged).toEqual([
    ['dropped', { dropped: 1, times: 1 }],
    ['dropped', { dropped: 320, times: 2 }],
  ])
})

function makeTrouble() {
  const logged: unknown[] = []
  return { ...createTrouble({ warn: (what, facts) => void logged.push([what, facts]) }), logged }
}
