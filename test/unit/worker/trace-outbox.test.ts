import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toTraceTree } from '../../../src/protocol/trace-tree.ts'
import { call, DAY, ended, makeOutbox, open, pass, ROOT, SECOND, span } from './outbox.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
})

afterEach(() => {
  vi.useRealTimers()
})

test('outbox: a run that is open is looked at again half a minute later, and nothing is stored', async () => {
  const { outbox, isWaiting, dueIn, stored } = makeOutbox([open('r1')])
  await outbox.append(ROOT, 'r1', [span('r1')])

  await pass(31 * SECOND)
  await outbox.sweep()

  expect(await isWaiting()).toBe(true)
  expect(await dueIn(29 * SECOND)).toBe(false)
  expect(await dueIn(2 * SECOND)).toBe(true)
  expect(stored()).toBeNull()
})

test('outbox: a run that has ended is stored with its spans, and nothing is left', async () => {
  const { outbox, kv, isWaiting, stored } = makeOutbox([ended('r1')])
  await outbox.append(ROOT, 'r1', [span('r1')])

  await pass(31 * SECOND)
  await outbox.sweep()

  expect(stored()?.map(({ id, phase }) => `${phase} ${id}`)).toEqual(['began r1', 'ended r1', 'began r1:span:a'])
  expect(await isWaiting()).toBe(false)
  expect(await kv.readList('traces:r1', { left: 1000 }, call)).toEqual({ values: [], length: 0 })
})

test('outbox: a run that has ended this moment is left to the worker that saw it end', async () => {
  const { outbox, stored } = makeOutbox([{ ...ended('r1'), closedAt: Date.now() + 29 * SECOND }])
  await outbox.append(ROOT, 'r1', [])

  await pass(31 * SECOND)
  await outbox.sweep()
  const before = stored()
  await pass(6 * SECOND)
  await outbox.sweep()

  expect(before).toBeNull()
  expect(stored()).not.toBeNull()
})

test('outbox: a worker whose clock is behind the engine’s stores what has ended without waiting for its clock', async () => {
  const { outbox, stored } = makeOutbox([{ ...ended('r1'), closedAt: Date.now() + DAY }])
  await outbox.append(ROOT, 'r1', [])

  await pass(31 * SECOND)
  await outbox.sweep()

  expect(stored()).not.toBeNull()
})

test('outbox: what comes while a trace is stored is stored, too', async () => {
  const { outbox, isWaiting, stored, whileWriting } = makeOutbox([ended('r1')])
  await outbox.append(ROOT, 'r1', [span('r1', 'a')])
  whileWriting(() => outbox.append(ROOT, 'r1', [span('r1', 'late')]))

  expect(await outbox.storeNow(ROOT, 'r1')).toBe(true)
  expect(await isWaiting()).toBe(true)
  whileWriting(async () => {})
  await pass(2 * SECOND)
  await outbox.storeNow(ROOT, 'r1')

  expect(stored()?.map(({ id }) => id)).toContain('r1:span:late')
  expect(await isWaiting()).toBe(false)
})

test('outbox: spans that come after all was stored join what is there', async () => {
  const { outbox, stored } = makeOutbox([ended('r1')])
  await outbox.append(ROOT, 'r1', [span('r1', 'a')])
  await outbox.storeNow(ROOT, 'r1')

  await outbox.append(ROOT, 'r1', [span('r1', 'late')])
  await pass(31 * SECOND)
  await outbox.sweep()

  expect(stored()?.map(({ id }) => id)).toEqual(['r1', 'r1', 'r1:span:a', 'r1:span:late'])
})

test('outbox: the links of a chain that have ended are stored and gone, the chain stays', async () => {
  const { outbox, kv, isWaiting, stored } = makeOutbox([ended('r1', 'r2'), open('r2')])
  await outbox.append(ROOT, 'r1', [span('r1')])
  await outbox.append(ROOT, 'r2', [span('r2')])

  await outbox.storeNow(ROOT, 'r1')

  expect(stored()?.map(({ id }) => id)).toEqual(expect.arrayContaining(['r1:chain', 'r1:span:a', 'r2:span:a']))
  expect(await kv.readList('traces:r1', { left: 1000 }, call)).toEqual({ values: [], length: 0 })
  expect(await kv.readList('traces:r2', { left: 1000 }, call)).toMatchObject({ length: 1 })
  expect(await isWaiting()).toBe(true)
})

test('outbox: what can not be stored is tried again, later each time, and told', async () => {
  const { outbox, stored, troubles, dueIn, whileWriting } = makeOutbox([ended('r1')])
  await outbox.append(ROOT, 'r1', [span('r1')])
  whileWriting(() => Promise.reject(new Error('no bucket')))

  for (const restMs of [31, 61, 121].map((seconds) => seconds * SECOND)) {
    await pass(restMs)
    await outbox.sweep()
  }

  expect(troubles).toEqual(Array(3).fill('A trace could not be stored; it will be tried again'))
  expect(await dueIn(100 * SECOND)).toBe(false)
  whileWriting(async () => {})
  await pass(200 * SECOND)
  await outbox.sweep()
  expect(stored()).not.toBeNull()
})

test('outbox: a run that the engine has not known for seven days is dropped', async () => {
  const { outbox, kv, isWaiting } = makeOutbox([])
  await outbox.append(ROOT, 'r1', [span('r1')])

  await pass(31 * SECOND)
  await outbox.sweep()
  await pass(6 * DAY)
  await outbox.sweep()
  const before = await isWaiting()
  await pass(DAY)
  await outbox.sweep()

  expect(before).toBe(true)
  expect(await isWaiting()).toBe(false)
  expect(await kv.readList('traces:missing:r1', { left: 1000 }, call)).toEqual({ values: [], length: 0 })
})

test('outbox: where the index can not be asked, each run is', async () => {
  const { outbox, stored, engine } = makeOutbox([ended('r1')])
  engine.openRuns = () => Promise.reject(new Error('rate limit'))
  await outbox.append(ROOT, 'r1', [])

  await pass(31 * SECOND)
  await outbox.sweep()

  expect(stored()).not.toBeNull()
})

test('outbox: of a trace that is too large the newest links are stored', async () => {
  const chain = Array.from({ length: 10 }, (_, index) => ended(`r${index + 1}`, index < 9 ? `r${index + 2}` : null))
  const { outbox, stored, text } = makeOutbox(chain, { maxBytes: 3000 })
  await outbox.append(ROOT, 'r1', [])

  await outbox.storeNow(ROOT, 'r10')

  const links = stored()?.filter(({ id, kind, phase }) => kind === 'workflow' && phase === 'ended' && !id.endsWith(':chain'))
  expect(links?.map(({ id }) => id)).toContain('r10')
  expect(links?.map(({ id }) => id)).not.toContain('r1')
  expect(text().length).toBeLessThanOrEqual(3000)
})

test('outbox: the run that was reset is told before the one that goes on, with its spans, and nothing is left', async () => {
  const { outbox, kv, isWaiting, stored } = makeOutbox([ended('r1'), { ...ended('r2'), baseRunId: 'r1' }])
  await outbox.append(ROOT, 'r1', [span('r1')])
  await outbox.append(ROOT, 'r2', [span('r2')])

  await outbox.storeNow(ROOT, 'r2')

  const links = toTraceTree(stored() ?? [])?.children.filter(({ kind }) => kind === 'workflow')
  expect(stored()?.map(({ id }) => id)).toEqual(expect.arrayContaining(['r1:chain', 'r1', 'r1:span:a', 'r2', 'r2:span:a']))
  expect(links?.map(({ id }) => id)).toEqual(['r1', 'r2'])
  expect(await isWaiting()).toBe(false)
  expect(await kv.readList('traces:r1', { left: 1000 }, call)).toEqual({ values: [], length: 0 })
})

test('outbox: where there is no room for both, the run after a reset is told and the one before is cut', async () => {
  const runs = [ended('r1')]
  const { outbox, stored, text } = makeOutbox(runs, { maxBytes: 6000 })
  await outbox.append(ROOT, 'r1', [span('r1', 'old', 'x'.repeat(4500))])
  await outbox.storeNow(ROOT, 'r1')

  runs.push({ ...ended('r2'), baseRunId: 'r1' })
  await outbox.append(ROOT, 'r2', [span('r2', 'new', 'y'.repeat(1000))])
  await outbox.storeNow(ROOT, 'r2')

  expect(stored()?.map(({ id }) => id)).toContain('r2:span:new')
  expect(stored()?.map(({ id }) => id)).not.toContain('r1:span:old')
  expect(text().length).toBeLessThanOrEqual(6000)
})

test('outbox: what is stored and nothing leads to any more stays as long as there is room, and is the first to go', async () => {
  const runs = [ended('r1')]
  const { outbox, stored } = makeOutbox(runs, { maxBytes: 6000 })
  await outbox.append(ROOT, 'r1', [span('r1', 'old', 'x'.repeat(2000))])
  await outbox.storeNow(ROOT, 'r1')

  runs.push(ended('r2'))
  for (const [name, kept] of [
    ['a', true],
    ['b', false],
  ] as const) {
    await outbox.append(ROOT, 'r2', [span('r2', name, 'y'.repeat(2000))])
    await outbox.storeNow(ROOT, 'r2')

    expect(stored()?.map(({ id }) => id)).toContain(`r2:span:${name}`)
    expect(stored()?.some(({ id }) => id === 'r1:span:old')).toBe(kept)
  }
})

test('outbox: of more spans than a trace has room for those that fit are stored, the run is marked, and nothing is left', async () => {
  const { outbox, isWaiting, stored, text, troubles } = makeOutbox([ended('r1')], { maxBytes: 10_000 })
  for (let index = 0; index < 12; index++) await outbox.append(ROOT, 'r1', [span('r1', `${index}`, 'ü'.repeat(500))])

  await outbox.storeNow(ROOT, 'r1')

  const spans = stored()?.filter(({ id }) => id.includes(':span:'))
  expect(spans?.[0]?.id).toBe('r1:span:0')
  expect(spans?.length).toBeGreaterThan(2)
  expect(toTraceTree(stored() ?? [])).toMatchObject({ id: 'r1', attributes: { truncated: true, status: 'completed' } })
  expect(Buffer.byteLength(text())).toBeLessThanOrEqual(10_000)
  expect([await isWaiting(), troubles]).toEqual([false, []])
})

test('outbox: what a history holds is stored however deep it is nested, as deep as a stored trace may be', async () => {
  let output: unknown = 'x'
  for (let depth = 0; depth < 997; depth++) output = [output]
  const { outbox, stored } = makeOutbox([{ ...ended('r1'), output }])
  await outbox.append(ROOT, 'r1', [])

  await outbox.storeNow(ROOT, 'r1')

  expect(toTraceTree(stored() ?? [])?.output).toEqual(output)
})

test('outbox: spans that are none are left out, which is told', async () => {
  const { outbox, stored, troubles } = makeOutbox([ended('r1')])
  await outbox.append(ROOT, 'r1', [span('r1'), span('r1', 'x'.repeat(5000)), 'no JSON'])

  await outbox.storeNow(ROOT, 'r1')

  expect(stored()?.filter(({ id }) => id.includes(':span:'))).toHaveLength(1)
  expect(troubles).toEqual(['Spans were left out: they could not be read'])
})

test('outbox: what bucket and folder hold alike takes its room once', async () => {
  const { outbox, stored } = makeOutbox([ended('r1')], { maxBytes: 10_000, places: 2 })
  await outbox.append(ROOT, 'r1', [span('r1', 'a', 'x'.repeat(6000))])
  await outbox.storeNow(ROOT, 'r1')

  await outbox.append(ROOT, 'r1', [span('r1', 'late')])
  await outbox.storeNow(ROOT, 'r1')

  expect(stored()?.map(({ id }) => id)).toEqual(['r1', 'r1', 'r1:span:a', 'r1:span:late'])
})
