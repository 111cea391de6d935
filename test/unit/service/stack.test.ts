import { afterEach, expect, test, vi } from 'vitest'
import { aCall, rejection } from '../call.ts'
import { aDescription } from './catalog-fixture.ts'
import { makeWorkflows } from './make-workflows.ts'

afterEach(() => void vi.useRealTimers())

const REF = { workflowId: 'orders-17' }
const COMMAND = { workflowName: 'parcel', catalog: 'orders', args: [1], argumentPointer: '/input' }
const MESSAGE = { name: 'approve', args: [], argumentPointer: '/args/0' }

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

test('signal and update: are rejected for a catalog of the older form', async () => {
  const { fixture, workflows } = makeWorkflows()
  fixture.publish('c1', [{ name: 'order' }], { id: 'orders' })
  await fixture.catalogs.published('orders')

  const command = { ref: { workflowId: 'orders' }, message: MESSAGE }
  expect((await rejection(workflows.signal(command, aCall()))).error).toBe('ForbiddenError')
  expect((await rejection(workflows.update(command, aCall()))).error).toBe('ForbiddenError')
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
