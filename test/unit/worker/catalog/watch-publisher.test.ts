import { expect, test } from 'vitest'
import { isGone, type PublisherWatch, watchPublisher } from '../../../../src/worker/catalog/watch-publisher.ts'

type Look = [atSeconds: number, polledAt: number | null, publisher?: string]

/** Looks every 20 s, from the first second to the last. */
function everyTwentySeconds(from: number, to: number, polledAt: (at: number) => number | null): Look[] {
  const looks: Look[] = []
  for (let at = from; at <= to; at += 20) looks.push([at, polledAt(at)])
  return looks
}

test.each<[string, Look[], 'polls' | 'gone for the same catalog' | 'gone']>([
  ['the first look, however old the poll is', [[1000, 0]], 'polls'],
  [
    'a poll that has not changed for 59 s',
    [
      [0, 7],
      [20, 7],
      [40, 7],
      [59, 7],
    ],
    'polls',
  ],
  ['a poll that has not changed for 60 s', everyTwentySeconds(0, 60, () => 7), 'gone for the same catalog'],
  ['a poll that has not changed for 80 s', everyTwentySeconds(0, 80, () => 7), 'gone for the same catalog'],
  ['a poll that has not changed for 100 s', everyTwentySeconds(0, 100, () => 7), 'gone'],
  ['a worker that polls every 52 s', everyTwentySeconds(0, 2000, (at) => Math.floor(at / 52)), 'polls'],
  ['an engine that lists no poll of it for 60 s', everyTwentySeconds(0, 60, () => null), 'gone for the same catalog'],
  ['an engine that lists no poll of it for 100 s', everyTwentySeconds(0, 100, () => null), 'gone'],
  [
    'an engine that has restarted after 90 s',
    [...everyTwentySeconds(0, 80, () => 7), [90, null], [110, null]],
    'polls',
  ],
  ['a poll after 99 s', [...everyTwentySeconds(0, 80, () => 7), [99, 8]], 'polls'],
  ['another publisher', [...everyTwentySeconds(0, 80, () => 7), [100, 7, 'another']], 'polls'],
  [
    'an engine that was frozen for an hour',
    [
      [0, 7],
      [20, 7],
      [3600, 7],
    ],
    'polls',
  ],
  ['a clock of the engine that goes backwards', [...everyTwentySeconds(0, 80, () => 7), [100, 3]], 'polls'],
])('watchPublisher: %s', (_case, looks, expected) => {
  const watch = looks.reduce<PublisherWatch | null>(
    (last, [at, polledAtMs, publisher = 'a worker']) =>
      watchPublisher(last, { publisher, polledAtMs, lookedAtMs: at * 1000 }),
    null,
  )
  if (watch === null) throw new Error('nothing was seen')

  expect([isGone(watch, true), isGone(watch, false)]).toEqual(
    { polls: [false, false], 'gone for the same catalog': [true, false], gone: [true, true] }[expected],
  )
})

test('watchPublisher: a worker with the same catalog always takes it before one with another', () => {
  // The poll, and when each of them looks after it: at least every 20 s.
  const gone = (first: number, isSame: boolean) => {
    let watch: PublisherWatch | null = null
    for (let at = first; ; at += 20) {
      watch = watchPublisher(watch, { publisher: 'gone', polledAtMs: 0, lookedAtMs: at * 1000 })
      if (isGone(watch, isSame)) return at
    }
  }
  const firsts = Array.from({ length: 20 }, (_, second) => second)

  expect(Math.max(...firsts.map((first) => gone(first, true)))).toBeLessThan(
    Math.min(...firsts.map((first) => gone(first, false))),
  )
  expect(Math.max(...firsts.map((first) => gone(first, false)))).toBeLessThan(150)
})
