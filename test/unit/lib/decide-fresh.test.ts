import { expect, test } from 'vitest'
import { decideFresh } from '../../../src/lib/decide-fresh.ts'

interface Decision {
  rejects: boolean
  readAt: number
}

/** What is decided at the time 100, and how often. */
async function decideFrom(cached: Decision, fresh: Decision) {
  const asked: number[] = []
  const decision = await decideFresh(
    async (freshSince) => {
      asked.push(freshSince)
      return freshSince === 0 ? cached : fresh
    },
    ({ rejects, readAt }) => (rejects ? readAt : null),
    () => 100,
  )
  return { decision, asked }
}

test('decide fresh: an acceptance from cached values counts', async () => {
  const cached = { rejects: false, readAt: 1 }

  expect(await decideFrom(cached, { rejects: true, readAt: 100 })).toEqual({ decision: cached, asked: [0] })
})

test('decide fresh: a rejection from older values is decided again', async () => {
  const fresh = { rejects: false, readAt: 100 }

  expect(await decideFrom({ rejects: true, readAt: 99 }, fresh)).toEqual({ decision: fresh, asked: [0, 100] })
})

test('decide fresh: a rejection from values that were read since the request arrived counts', async () => {
  const cached = { rejects: true, readAt: 100 }

  expect(await decideFrom(cached, { rejects: false, readAt: 101 })).toEqual({ decision: cached, asked: [0] })
})
