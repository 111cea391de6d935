import { expect, test } from 'vitest'
import { pauseAfterPollMs } from '../../../../../src/service/engine/streams/budget.ts'

const FRESH = { polls: 0, historyLength: 3, historySizeBytes: 500 }

test('stream budget: polls are sent less often the more of them a run has had, and none beyond the maximum (threat 54)', () => {
  const pauses = [0, 199, 200, 399, 400, 599, 600, 799, 800, 999, 1000, 5000].map((polls) =>
    pauseAfterPollMs({ ...FRESH, polls }, 1000),
  )

  expect(pauses).toEqual([100, 100, 250, 250, 500, 500, 1000, 1000, 2000, 2000, null, null])
})

test('stream budget: a long history and a large one count as well, whichever is closest to its limit', () => {
  expect([
    pauseAfterPollMs({ ...FRESH, historyLength: 20_000 }, 1000),
    pauseAfterPollMs({ ...FRESH, historySizeBytes: 30_000_000, historyLength: 10 }, 1000),
    pauseAfterPollMs({ ...FRESH, historyLength: 40_000 }, 1000),
    pauseAfterPollMs({ ...FRESH, historySizeBytes: 40_000_000 }, 1000),
  ]).toEqual([500, 1000, null, null])
})

test('stream budget: a maximum of one poll allows one', () => {
  expect([pauseAfterPollMs(FRESH, 1), pauseAfterPollMs({ ...FRESH, polls: 1 }, 1)]).toEqual([100, null])
})
