/** Which runs a batch is for, and what its key decides, on an engine that has many. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createBatch } from '../../../../src/service/batches/create.ts'
import type { EngineBatch, FoundBatch } from '../../../../src/service/model/batch.ts'
import { backgroundCall } from '../../../../src/service/model/call.ts'
import type { CreateBatchCommand } from '../../../../src/service/model/commands.ts'
import type { TypedRunFilter } from '../../../../src/service/model/run-filter.ts'
import { anEngine, SEARCH_ATTRIBUTES } from '../catalog-fixture.ts'

const COMMAND: CreateBatchCommand = { operation: 'stop', filter: { catalog: 'orders' }, reason: null, signal: null }

const RUN = {
  ...{ workflowId: 'w', runId: 'r', workflowName: 'order', catalog: 'orders' },
  ...{ status: 'running' as const, startedAt: null, completedAt: null, problem: false },
}

/** An engine with so many runs, and pages of a thousand. `known`: the batch that has the id. */
function engineWith(count: number, known: Partial<FoundBatch> | null = null) {
  const [filters, started]: [TypedRunFilter[], EngineBatch[]] = [[], []]
  const engine = anEngine({
    async listRuns(filter, { size, token }) {
      filters.push(filter)
      const from = Number(token ?? 0)
      const runs = Array.from({ length: Math.min(size, count - from) }, (_, n) => ({
        ...RUN,
        ...{ workflowId: `w${from + n}`, runId: `r${from + n}` },
      }))
      return { runs, nextToken: from + size < count ? String(from + size) : null }
    },
    countRuns: async () => ({ count, groups: [] }),
    async startBatch(batch) {
      started.push(batch)
      return null
    },
    describeBatch: async () => known as FoundBatch | null,
  })
  const create = (more: Partial<CreateBatchCommand> = {}) =>
    createBatch({ engine, searchAttributes: SEARCH_ATTRIBUTES }, { ...COMMAND, ...more }, backgroundCall('test', 1000))
  return { create, filters, started }
}

test('a batch is for all pages of open runs, with their run ids, and for those that the caller may change', async () => {
  const { create, filters, started } = engineWith(2500)
  const visible = [{ ids: ['w*'] }]

  const all = await create()
  const own = await create({ visible, admits: ({ workflowId }) => workflowId === 'w1001' })

  expect([all.matching, own.matching]).toEqual([2500, 1])
  expect(all.batchId).toMatch(/^[0-9a-f]{16}-[0-9a-f]{32}$/)
  expect(filters[0]).toEqual({ catalog: 'orders', open: true, searchAttributes: [] })
  expect(filters[3]).toMatchObject({ visible, open: true })
  expect(started.map(({ runs }) => runs.at(-1))).toEqual([
    { workflowId: 'w2499', runId: 'r2499' },
    { workflowId: 'w1001', runId: 'r1001' },
  ])
})

test('each page has the time of a request, all pages and the start together 30 s', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const left: number[] = []
  const engine = anEngine({
    async listRuns(_, { token }, { deadlineAt }) {
      left.push(deadlineAt - Date.now())
      vi.setSystemTime(Date.now() + 3500)
      const runs = [RUN, { ...RUN, workflowId: 'temporal-sys-scheduler:s' }, { ...RUN, workflowName: '__temporal_x' }]
      return { runs, nextToken: token === '7' ? null : String(Number(token ?? 0) + 1) }
    },
    async startBatch({ runs }, { deadlineAt }) {
      left.push(runs.length, deadlineAt - Date.now())
      return null
    },
  })

  await createBatch({ engine, searchAttributes: SEARCH_ATTRIBUTES }, COMMAND, backgroundCall('test', 1000))

  // Runs of the engine are not part of it.
  expect(left).toEqual([...Array(8).fill(4500), 8, 2000])
})

test('10,000 runs are a batch, one more is a 400 with their number, and nothing is started', async () => {
  const [most, more] = [engineWith(10_000), engineWith(10_001)]

  expect((await most.create()).matching).toBe(10_000)
  await expect(more.create()).rejects.toMatchObject({
    error: 'ValidationError',
    details: { issues: [{ path: '/filter', message: expect.stringContaining('10001') }] },
  })
  expect(more.started).toEqual([])
})

test('a key has one id and one fingerprint, which other requests do not have', async () => {
  const { create, started } = engineWith(1)
  const changes: Partial<CreateBatchCommand>[] = [
    ...[{}, {}, { operation: 'terminate' as const }, { filter: {} }, { reason: 'r' }],
    { operation: 'signal', signal: { name: 'a', args: [1] } },
    { operation: 'signal', signal: { name: 'a', args: [2] } },
  ]

  for (const change of changes) await create({ ...change, idempotencyKey: 'k' })
  await create({ idempotencyKey: 'other' })
  await create()

  const [first, again, ...others] = started.map(({ request }) => request)
  expect(again).toBe(first)
  expect(new Set([first, ...others]).size).toBe(others.length + 1)
  expect(new Set(started.map(({ batchId }) => batchId)).size).toBe(3)
  const found = engineWith(0, { matching: 7, request: first })
  const body = { operation: 'stop', matching: 7, batchId: started[0]?.batchId, isRepeated: true }
  expect(await found.create({ idempotencyKey: 'k' })).toEqual(body)
  await expect(found.create({ idempotencyKey: 'k', reason: 'r' })).rejects.toMatchObject({
    error: 'IdempotencyKeyReusedError',
  })
})
