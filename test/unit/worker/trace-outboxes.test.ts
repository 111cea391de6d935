/** Who stores a trace, and how often, where several might. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { call, ended, makeOutbox, makeStores, pass, ROOT, SECOND, span } from './outbox.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
})

afterEach(() => {
  vi.useRealTimers()
})

test('outboxes: two that store the same root at once lose no span, whenever the second begins', async () => {
  for (let headStartMs = 0; headStartMs < 300; headStartMs += 10) {
    const stores = makeStores()
    const [one, two] = [1, 2].map(() => makeOutbox([ended('r1')], { stores, latencyMs: 50 }))
    await one?.outbox.append(ROOT, 'r1', [span('r1')])

    const first = one?.outbox.storeNow(ROOT, 'r1')
    await pass(headStartMs)
    const second = two?.outbox.storeNow(ROOT, 'r1')
    await pass(5 * SECOND)
    await Promise.all([first, second])

    expect(one?.stored()?.map(({ id }) => id)).toContain('r1:span:a')
    expect(await stores.kv.readList('traces:r1', { left: 1000 }, call)).toEqual({ values: [], length: 0 })
  }
})

test('outboxes: a root that is stored already is not stored by the same worker beside', async () => {
  const { outbox, written, isWaiting } = makeOutbox([ended('r1')], { latencyMs: 50 })
  await outbox.append(ROOT, 'r1', [span('r1')])

  const both = Promise.all([outbox.storeNow(ROOT, 'r1'), outbox.storeNow(ROOT, 'r1')])
  await pass(5 * SECOND)
  await both

  expect(written).toEqual(['r1'])
  expect(await isWaiting()).toBe(false)
})

test('outboxes: a slow place outlives no claim, for a root is claimed when its turn comes', async () => {
  const roots = Array.from({ length: 32 }, (_, index) => ({ workflowId: `w${index}`, rootRunId: `r${index}`, catalog: 'c' }))
  const runs = roots.map(({ workflowId, rootRunId }) => ({ ...ended(rootRunId, null, workflowId), firstRunId: rootRunId }))
  const stores = makeStores()
  const [one, two] = [1, 2].map(() => makeOutbox(runs, { stores, latencyMs: 5 * SECOND }))
  for (const root of roots) await one?.outbox.append(root, root.rootRunId, [])
  await pass(31 * SECOND)

  const first = one?.outbox.sweep()
  await pass(31 * SECOND)
  const second = two?.outbox.sweep()
  await pass(300 * SECOND)
  await Promise.all([first, second])

  expect([...(one?.written ?? []), ...(two?.written ?? [])].toSorted()).toEqual(roots.map(({ rootRunId }) => rootRunId).toSorted())
})
