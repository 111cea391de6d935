import { afterEach, expect, test, vi } from 'vitest'
import { aCall, rejection } from '../call.ts'
import { aDescription, DEPLOYMENT } from './catalog-fixture.ts'
import { makeWorkflows } from './make-workflows.ts'

afterEach(() => void vi.useRealTimers())

const REF = { workflowId: 'orders-17' }
const COMMAND = { workflowName: 'parcel', catalog: 'orders', args: [1], argumentPointer: '/input' }
const MESSAGE = { name: 'approve', args: [], argumentPointer: '/args/0' }

test('start: returns the ids of the run', async () => {
  const { fixture, workflows } = makeWorkflows({
    start: async ({ workflowId }) => ({ workflowId, runId: 'run-1', firstRunId: 'run-1' }),
  })
  fixture.publish('c1', [{ name: 'parcel' }])

  expect(await workflows.start({ ...COMMAND, workflowId: 'w' }, aCall())).toEqual({ workflowId: 'w', runId: 'run-1' })
})

test('run: describes at most 100 runs at a time when many time out together, and each of them once', async () => {
  let describing = 0
  let most = 0
  const described: string[] = []
  const { fixture, workflows } = makeWorkflows({
    start: async ({ workflowId }) => ({ workflowId, runId: 'run-1', firstRunId: 'run-1' }),
    wait: async () => null,
    async describe({ workflowId }) {
      described.push(workflowId)
      most = Math.max(most, ++describing)
      await Promise.resolve()
      describing--
      return aDescription({ workflowId })
    },
  })
  fixture.publish('c1', [{ name: 'parcel' }])
  const ids = Array.from({ length: 250 }, (_, number) => `order-${number}`)

  const rejected = await Promise.all(
    ids.map((workflowId) => rejection(workflows.run({ ...COMMAND, workflowId, timeoutMs: 1000 }, aCall()))),
  )

  expect(rejected.map(({ workflowId, workflowStatus }) => [workflowId, workflowStatus])).toEqual(
    ids.map((id) => [id, 'running']),
  )
  expect(described.toSorted()).toEqual(ids.toSorted())
  expect(most).toBe(100)
})

test('status: returns a part of what the engine describes', async () => {
  const { workflows } = makeWorkflows({ describe: async () => aDescription() })

  expect(await workflows.status(REF, aCall())).toEqual({
    workflowId: 'orders-17',
    runId: 'run-1',
    workflowName: 'order',
    catalog: 'orders',
    status: 'running',
    startedAt: new Date(1000),
    completedAt: null,
    historyLength: 3,
    problem: null,
    progress: null,
    memo: {},
    searchAttributes: {},
    parent: null,
    workerVersion: null,
    executionTimeoutMs: null,
    runTimeoutMs: null,
  })
})

test('result: is rejected for an open run, with its ids and status', async () => {
  const { workflows } = makeWorkflows({
    read: async () => ({ ...aDescription({ status: 'paused' }), input: null, closing: null }),
  })

  expect(await rejection(workflows.result({ ref: REF, followsChain: true, waitMs: null }, aCall()))).toEqual({
    error: 'WorkflowNotCompletedError',
    message: 'Workflow orders-17 has no result yet; its status is paused',
    workflowId: 'orders-17',
    runId: 'run-1',
    workflowStatus: 'paused',
  })
})

test('signal and update: are rejected for a catalog of the older form', async () => {
  const { fixture, workflows } = makeWorkflows()
  fixture.publish('c1', [{ name: 'order' }], { id: 'orders' })
  await fixture.catalogs.published('orders')

  const command = { ref: { workflowId: 'orders' }, message: MESSAGE }
  expect((await rejection(workflows.signal(command, aCall()))).error).toBe('ForbiddenError')
  expect((await rejection(workflows.update(command, aCall()))).error).toBe('ForbiddenError')
})

test('update-with-start: sends the canonical name, with generated ids', async () => {
  const requests: unknown[][] = []
  const { fixture, workflows } = makeWorkflows({
    updateWithStart: async (...args) => {
      requests.push(args.slice(0, 3))
      return { workflowId: args[0].workflowId, runId: 'run-1', started: true, result: 'done' }
    },
  })
  fixture.publish('c1', [{ name: 'order', aliases: ['parcel'] }])

  const { workflowId, result } = await workflows.updateWithStart({ start: COMMAND, update: MESSAGE }, aCall())
  await workflows.updateWithStart({ start: { ...COMMAND, workflowId: 'w' }, update: MESSAGE }, aCall())

  const madeId = expect.stringMatching(/^[\da-f-]{36}$/)
  expect(result).toBe('done')
  expect(requests).toEqual([
    [{ workflowId, workflowName: 'order', catalog: 'orders', args: [1] }, MESSAGE, madeId],
    [{ workflowId: 'w', workflowName: 'order', catalog: 'orders', args: [1] }, MESSAGE, madeId],
  ])
  expect(new Set([workflowId, ...requests.map(([, , updateId]) => updateId)]).size).toBe(3)
})

test('query, update, update-with-start: the deadline of a handler is that of the setting, not of the request', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const deadlines: number[] = []
  const { fixture, workflows } = makeWorkflows({
    describe: async () => aDescription(),
    query: async (_ref, _message, { deadlineAt }) => deadlines.push(deadlineAt),
    update: async (_ref, _message, _id, { deadlineAt }) => deadlines.push(deadlineAt),
    async updateWithStart({ workflowId }, _message, _id, { deadlineAt }) {
      deadlines.push(deadlineAt)
      return { workflowId, runId: 'run-1', started: true, result: 'done' }
    },
  })
  fixture.publish('c1', [{ name: 'parcel' }])
  const call = aCall({ deadlineAt: Date.now() + 5000 })

  await workflows.query({ ref: REF, message: MESSAGE }, call)
  await workflows.update({ ref: REF, message: MESSAGE }, call)
  await workflows.updateWithStart({ start: COMMAND, update: MESSAGE }, call)

  expect(deadlines).toEqual([12_345, 12_345, 12_345].map((ms) => Date.now() + ms))
})

test('update-with-start: is rejected for a name that the catalog does not have, before anything is sent', async () => {
  const { fixture, workflows } = makeWorkflows()
  fixture.publish('c1', [{ name: 'order' }])

  expect((await rejection(workflows.updateWithStart({ start: COMMAND, update: MESSAGE }, aCall()))).error).toBe(
    'UnsupportedWorkflowError',
  )
})

test('signal-with-start and update-with-start: are rejected for a catalog of the older form, including the one that is read for it', async () => {
  const { fixture, workflows } = makeWorkflows()
  fixture.publish('c1', [{ name: 'parcel' }], { id: 'orders' })

  const start = { ...COMMAND, workflowId: 'orders' }
  const rejected = [
    await rejection(workflows.updateWithStart({ start, update: MESSAGE }, aCall())),
    await rejection(workflows.signalWithStart({ start, signal: MESSAGE }, aCall())),
  ]

  for (const one of rejected) expect(one).toMatchObject({ error: 'ForbiddenError', workflowId: 'orders' })
})

test('signal-with-start: sends the canonical name, with a generated id', async () => {
  const names: string[] = []
  const { fixture, workflows } = makeWorkflows({
    async signalWithStart({ workflowId, workflowName }) {
      names.push(workflowName)
      return { workflowId, runId: 'run-1', started: true }
    },
  })
  fixture.publish('c1', [{ name: 'order', aliases: ['parcel'] }])

  const { workflowId, started } = await workflows.signalWithStart({ start: COMMAND, signal: MESSAGE }, aCall())

  expect([names, workflowId, started]).toEqual([['order'], expect.stringMatching(/^[\da-f-]{36}$/), true])
})

test('start and run: use-existing and terminate-existing are rejected for a catalog of the older form', async () => {
  const { fixture, workflows } = makeWorkflows()
  fixture.publish('c1', [{ name: 'parcel' }], { id: 'orders' })
  const commands = (['use-existing', 'terminate-existing'] as const).map((workflowIdConflictPolicy) => ({
    ...COMMAND,
    workflowId: 'orders',
    options: { workflowIdConflictPolicy },
  }))

  const rejected = await Promise.all([
    ...commands.map((command) => rejection(workflows.start(command, aCall()))),
    ...commands.map((command) => rejection(workflows.run({ ...command, timeoutMs: 1000 }, aCall()))),
  ])

  expect(rejected.map(({ error }) => error)).toEqual(rejected.map(() => 'ForbiddenError'))
})

test('update-with-start: is rejected before any call when the transport does not support it', async () => {
  const updateWithStart = { supported: false, reason: 'there is no such call' } as const
  const features = { ...DEPLOYMENT.features, updateWithStart }
  const { workflows } = makeWorkflows({}, { ...DEPLOYMENT, features })

  const { error, message } = await rejection(workflows.updateWithStart({ start: COMMAND, update: MESSAGE }, aCall()))

  expect([error, message]).toEqual(['NotSupportedError', expect.stringContaining('there is no such call')])
})

test('asynchronous updates: are rejected before any call when the transport does not support them', async () => {
  const asyncUpdates = { supported: false, reason: 'there is no such call' } as const
  const deployment = { ...DEPLOYMENT, features: { ...DEPLOYMENT.features, asyncUpdates } }
  const { workflows } = makeWorkflows({}, deployment)

  const rejected = [
    await rejection(workflows.startUpdate({ ref: REF, message: MESSAGE }, aCall())),
    await rejection(workflows.readUpdate({ ref: REF, name: 'approve', updateId: 'u', waitMs: 0 }, aCall())),
  ]

  const message = 'Asynchronous updates are not supported: there is no such call (GET /capabilities: asyncUpdates)'
  for (const one of rejected) expect(one).toMatchObject({ error: 'NotSupportedError', message })
})

test('update: generates a new id each time', async () => {
  const ids: string[] = []
  const { workflows } = makeWorkflows({ update: async (_ref, _message, updateId) => ids.push(updateId) })

  await workflows.update({ ref: REF, message: MESSAGE }, aCall())
  await workflows.update({ ref: REF, message: MESSAGE }, aCall())

  expect(new Set(ids).size).toBe(2)
})

test('catalog: is CatalogNotFoundError when none is published', async () => {
  const { workflows } = makeWorkflows()

  expect((await rejection(workflows.catalog('orders', aCall()))).error).toBe('CatalogNotFoundError')
})
