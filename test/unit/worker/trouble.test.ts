import { expect, test } from 'vitest'
import { createTrouble } from '../../../src/worker/trouble.ts'

test('trouble: the same is logged once a minute, with how often it was', () => {
  const logged: unknown[] = []
  let now = 0
  const trouble = createTrouble({ warn: (what, facts) => void logged.push([what, facts?.times]) }, () => now)

  for (now = 0; now <= 60_000; now += 1000) trouble('down')
  trouble('something else')

  expect(logged).toEqual([
    ['down', 1],
    ['down', 60],
    ['something else', 1],
  ])
})
