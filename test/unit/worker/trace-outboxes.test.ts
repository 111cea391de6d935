/** Who stores a trace, and how often, where several might. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TraceOutbox } from '../../../src/worker/trace-outbox.ts'
import { call, DAY, ended, makeOutbox, makeStores, open, pass, ROOT, SECOND, span } from './outbox.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
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

test('outboxes: of a run that is open for long the spans are kept, of its children too, though no worker lives for an hour', async () => {
  let seed = 1
  vi.spyOn(Math, 'random').mockImplementation(() => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  })
  const stores = makeStores()
  const runs = [
    { ...open('r1'), childRunId: 'x1' },
    { ...open('x1', 'x'), firstRunId: 'x1' },
  ]
  const keptAt = new Map<string, number[]>()
  const keep = async (lists: readonly string[]) => {
    for (const list of lists) keptAt.set(list, [...(keptAt.get(list) ?? [Date.now()]), Date.now()])
  }
  const kv = { ...stores.kv, keep }
  await makeOutbox(runs, { stores }).outbox.append(ROOT, 'r1', [span('r1')])

  for (const endAt = Date.now() + 30 * DAY; Date.now() < endAt; ) {
    const { outbox } = makeOutbox(runs, { stores: { ...stores, kv } })
    for (let minutes = 0; minutes < 50; minutes += 5) {
      await pass(300 * SECOND)
      await outbox.sweep()
    }
  }

  for (const list of ['traces:r1', 'traces:x1']) {
    const times = [...(keptAt.get(list) ?? []), Date.now()]
    const longest = Math.max(...times.map((at, index) => at - (times[index - 1] ?? at)))
    expect(longest).toBeGreaterThan(0)
    expect(longest).toBeLessThan(7 * DAY)
    // Not at each look.
    expect(times.length).toBeLessThan(200)
  }
})

test('outboxes: a part that one is storing does not overwrite the whole that another stores at the end, whenever that comes', async () => {
  for (let endsAfterMs = 0; endsAfterMs < 2000; endsAfterMs += 20) {
    const stores = makeStores()
    const runs = [ended('r1', 'r2'), open('r2')]
    const [one, two] = [200, 10].map((latencyMs) => makeOutbox(runs, { stores, latencyMs }))
    await one?.outbox.append(ROOT, 'r2', [span('r2', 'a')])
    await pass(31 * SECOND)

    const sweeping = one?.outbox.sweep()
    await pass(endsAfterMs)
    runs[1] = { ...ended('r2'), closedAt: Date.now() }
    await two?.outbox.append(ROOT, 'r2', [span('r2', 'b')])
    const storing = untilStored(two?.outbox)
    await pass(60 * SECOND)
    await Promise.all([sweeping, storing, two?.outbox.sweep()])

    expect(one?.stored()?.map(({ id, phase }) => `${phase} ${id}`)).toEqual(
      expect.arrayContaining(['ended r2', 'began r2:span:a', 'began r2:span:b']),
    )
  }
})

/** As the queue of a worker does it. */
async function untilStored(outbox: TraceOutbox | undefined): Promise<void> {
  while ((await outbox?.storeNow(ROOT, 'r2')) === false) await new Promise((resolve) => setTimeout(resolve, SECOND))
}
