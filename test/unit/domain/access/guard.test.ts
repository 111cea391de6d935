import { expect, test } from 'vitest'
import { sealPageToken } from '../../../../src/domain/inspect/page-token.ts'
import type { ChainState } from '../../../../src/domain/model/chain-state.ts'
import type { ListedRun } from '../../../../src/domain/model/run-filter.ts'
import type { Workflows } from '../../../../src/domain/model/workflows.ts'
import { rejection } from '../../call.ts'
import { aGrant, MESSAGE, makeGuard, REF, RUN_ID, START } from './guard-fixture.ts'

test('a run outside the ids is forbidden, with the action, whether it exists or not', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: [aGrant({ ids: ['u:ada:*'] })] })

  const error = await rejection(workflows.status({ workflowId: 'u:bob:1' }, call))

  expect(error).toEqual({
    error: 'ForbiddenError',
    message: 'The policy does not allow "read" for workflow id "u:bob:1" with this credential',
    action: 'read',
  })
  expect([done, described]).toEqual([[], []])
  expect(call.audited).toEqual({ action: 'read', rule: 'none', workflowId: 'u:bob:1' })
})

test('a rule with ids alone costs no engine call', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: [aGrant({ ids: ['u:ada:*'] })] })

  await workflows.status(REF, call)

  expect(described).toEqual([])
  expect(done).toEqual([{ verb: 'status', command: REF }])
  expect(call.audited).toEqual({ action: 'read', rule: 'users', ...REF })
})

test('with workflows in the rule, an unpinned request acts on the run that was checked', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })

  await workflows.terminate({ ref: REF, reason: null }, call)

  expect(described).toEqual([REF])
  expect(done).toEqual([{ verb: 'terminate', command: { ref: { ...REF, runId: RUN_ID }, reason: null } }])
})

test.each([REF, { ...REF, runId: RUN_ID }])(
  'a run of another workflow gets the error of a run that does not exist: %o',
  async (ref) => {
    const grants = [aGrant({ workflows: ['order'] })]
    const other = makeGuard({ grants, runOf: 'secret' })
    const missing = makeGuard({ grants, runOf: null })

    expect(await rejection(other.workflows.status(ref, other.call))).toEqual(
      await rejection(missing.workflows.status(ref, missing.call)),
    )
    expect(other.done).toEqual([])
    expect(other.call.audited.rule).toBe('none')
  },
)

test('verbs are narrowed by handler, and headers of a message are an option', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ can: ['signal:app*'] })] })

  await workflows.signal({ ref: REF, message: MESSAGE }, call)

  const other = { ref: REF, message: { ...MESSAGE, name: 'reject' } }
  expect(await rejection(workflows.signal(other, call))).toMatchObject({ action: 'signal:reject' })
  const withHeaders = { ref: REF, message: { ...MESSAGE, headers: { user: 'root' } } }
  expect(await rejection(workflows.signal(withHeaders, call))).toMatchObject({ action: 'signal:approve' })
  expect(await rejection(workflows.query({ ref: REF, message: MESSAGE }, call))).toMatchObject({
    action: 'query:approve',
  })
  expect(done).toHaveLength(1)
})

test('headers of the request reach workers only with the option headers', async () => {
  const forwarded: unknown[] = []
  const signal: Workflows['signal'] = async (_, { forwardedHeaders }) => {
    forwarded.push(forwardedHeaders)
    return { workflowId: 'w', runId: null, warnings: [] }
  }
  for (const options of [[], ['headers'], ['*']]) {
    const { workflows, call } = makeGuard({ grants: [aGrant({ options })], verbs: { signal } })
    await workflows.signal({ ref: REF, message: MESSAGE }, { ...call, forwardedHeaders: { 'x-user': 'root' } })
  }

  expect(forwarded).toEqual([undefined, { 'x-user': 'root' }, { 'x-user': 'root' }])
})

test('readChain: requires to read the run, and passes its run id on', async () => {
  const reader = makeGuard({ grants: [aGrant({ can: ['read'], workflows: ['order'] })] })
  const starter = makeGuard({ grants: [aGrant({ can: ['start'] })] })

  await reader.workflows.readChain({ ...REF, runId: RUN_ID }, reader.call)

  expect(reader.done).toEqual([{ verb: 'readChain', command: { ...REF, runId: RUN_ID } }])
  expect(await rejection(starter.workflows.readChain(REF, starter.call))).toMatchObject({ action: 'read' })
})

test('readChain: a run that was deleted is allowed like the latest run, if that is of its chain', async () => {
  const pinned = { ...REF, runId: '01a20cdc-0000-7485-8a11-b95c90e3c290' }
  const readAs = async (runOf: string, lastRunId: string) => {
    const readChain = async () => ({ kind: 'open', runId: lastRunId }) as ChainState
    const verbs = { readChain }
    const isDeleted = (runId: string | undefined) => runId === pinned.runId
    const { workflows, call } = makeGuard({ grants: [aGrant({ workflows: ['order'] })], verbs, runOf, isDeleted })
    return workflows.readChain(pinned, call).then(
      ({ runId }) => runId,
      ({ name }) => name,
    )
  }

  expect(await readAs('order', RUN_ID)).toBe(RUN_ID)
  expect(await readAs('admin', RUN_ID)).toBe('WorkflowNotFoundError')
  expect(await readAs('order', pinned.runId)).toBe('WorkflowNotFoundError')
})

test('reading an update: its handler is checked for callers whose rules name handlers', async () => {
  const commandsOf = async (...cans: string[][]) => {
    const { workflows, call, done } = makeGuard({ grants: cans.map((can) => aGrant({ can })) })
    await workflows.readUpdate({ ref: REF, name: 'approve', updateId: 'u', waitMs: 0 }, call)
    return done.map(({ command }) => command)
  }
  const command = { ref: REF, name: 'approve', updateId: 'u', waitMs: 0 }

  expect(await commandsOf(['update:app*'])).toEqual([{ ...command, checksName: true }])
  expect(await commandsOf(['update'], ['signal:x', 'update:approve'])).toEqual([{ ...command, checksName: true }])
  for (const can of [['*'], ['update'], ['update:*'], ['update', 'update:x']])
    expect(await commandsOf(can)).toEqual([command])
})

test('list and count: the rules are part of the query, and each row is checked again', async () => {
  const row = (workflowId: string, workflowName: string): ListedRun => ({
    ...{ workflowId, runId: RUN_ID, workflowName, catalog: 'orders', status: 'running' },
    ...{ startedAt: null, completedAt: null },
  })
  const mine = row('u:ada:1', 'order')
  const list = async () => ({ runs: [mine, row('U:ADA:2', 'order'), row('u:ada:3', 'admin')], nextPageToken: 'more' })
  const { workflows, call, done } = makeGuard({
    grants: [aGrant({ ids: ['u:ada:*'], workflows: ['order'] })],
    verbs: { list },
  })

  const page = await workflows.list({ filter: {}, pageSize: 3, pageToken: null }, call)
  await workflows.count({ filter: {}, byStatus: false }, call)

  expect(page).toEqual({ runs: [mine], nextPageToken: 'more' })
  const filter = { visible: [{ ids: ['u:ada:*'], workflows: ['order'] }] }
  expect(done.map(({ command }) => command)).toMatchObject([{ filter }, { filter }])
})

test('list: a rule for everything filters nothing', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ ids: ['u:ada:*'] }), aGrant({ ids: ['*'] })] })

  await workflows.count({ filter: {}, byStatus: false }, call)

  expect(done).toEqual([{ verb: 'count', command: { filter: {}, byStatus: false } }])
})

test('history: the run that a page token names is checked, not the latest one', async () => {
  const { workflows, call, described } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })
  const position = { runId: RUN_ID, after: 1, page: null, live: null }
  const pageToken = await sealPageToken({ namespace: 'default', history: REF.workflowId }, position)

  await workflows.history({ ref: REF, pageSize: 1, pageToken, waitMs: 0, includePayloads: false }, call)

  expect(described).toEqual([{ ...REF, runId: RUN_ID }])
})

const STREAM = { ref: REF, from: 0, topics: [], followsChain: true } as const

test('stream: reading it is a read of the run, as events and as JSON', async () => {
  const reader = makeGuard({ grants: [aGrant({ can: ['read'], ids: ['u:ada:*'] })] })
  const sender = makeGuard({ grants: [aGrant({ can: ['signal', 'query', 'update'] })] })

  await reader.workflows.followStream(STREAM, reader.call)
  await reader.workflows.readStream({ ...STREAM, waitMs: 0, maxItems: 1 }, reader.call)

  expect(reader.done.map(({ verb }) => verb)).toEqual(['followStream', 'readStream'])
  expect(reader.call.audited).toMatchObject({ action: 'read', rule: 'users' })
  expect(await rejection(sender.workflows.followStream(STREAM, sender.call))).toMatchObject({ action: 'read' })
})

test('stream: the run of the position is checked, not the latest one, also after its last event', async () => {
  const positions = [false, true].map((isEnd) => ({ next: 1, runId: RUN_ID, isEnd }))
  for (const from of positions) {
    const { workflows, call, done, described } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })
    const foreign = makeGuard({ grants: [aGrant({ workflows: ['order'] })], runOf: 'secret' })

    await workflows.followStream({ ...STREAM, from }, call)
    await workflows.readStream({ ...STREAM, from, waitMs: 0, maxItems: 1 }, call)

    const pinned = { ...REF, runId: RUN_ID }
    expect(described).toEqual([pinned, pinned])
    expect(done).toMatchObject([{ command: { ref: pinned, from } }, { command: { ref: pinned, from } }])
    expect(await rejection(foreign.workflows.followStream({ ...STREAM, from }, foreign.call))).toMatchObject({
      error: 'WorkflowNotFoundError',
    })
    expect(foreign.done).toEqual([])
  }
})

test('stream: publishing is a signal of its own name, and its key belongs to the caller', async () => {
  const publish = { ref: REF, items: [{ topic: 't', data: 1 }], idempotencyKey: 'k' }
  const publisher = makeGuard({ grants: [aGrant({ can: ['signal:__temporal_workflow_stream_publish'] })] })
  const approver = makeGuard({ grants: [aGrant({ can: ['read', 'signal:approve'] })] })
  const operator = makeGuard({ grants: null })

  await publisher.workflows.publish(publish, publisher.call)
  await operator.workflows.publish(publish, operator.call)

  expect(publisher.done).toEqual([{ verb: 'publish', command: { ...publish, idempotencyKey: 'jwt:main:ada\nk' } }])
  expect(operator.done).toEqual([{ verb: 'publish', command: publish }])
  expect(await rejection(approver.workflows.publish(publish, approver.call))).toMatchObject({
    error: 'ForbiddenError',
    action: 'signal:__temporal_workflow_stream_publish',
  })
  expect(approver.done).toEqual([])
})

test('catalog: has the granted workflows, as the same array each time', async () => {
  const entries = ['order', 'admin'].map((name) => ({ name }))
  const catalog = (async () => ({ catalog: 'orders', inputsChecked: true, workflows: entries })) as never
  const { workflows, call } = makeGuard({
    grants: [aGrant({ can: ['query:x'], workflows: ['ord*'] })],
    verbs: { catalog },
  })

  const first = await workflows.catalog('orders', call)

  expect(first.workflows).toEqual([{ name: 'order' }])
  expect((await workflows.catalog('orders', call)).workflows).toBe(first.workflows)
  expect(await rejection(workflows.catalog('others', call))).toMatchObject({ error: 'ForbiddenError' })
})

test('startable: has the workflows that the caller may start, and none for another verb that a tool needs', async () => {
  const catalog = async () => ({ catalog: 'orders', inputsChecked: true, workflows: [{ name: 'order' }] })
  const namesFor = async (can: string) => {
    const { workflows, call } = makeGuard({ grants: [aGrant({ can: [can] })], verbs: { startable: catalog as never } })
    return (await workflows.startable('orders', call)).workflows.map(({ name }) => name)
  }

  expect([await namesFor('start'), await namesFor('read'), await namesFor('stop')]).toEqual([['order'], [], []])
  expect(await rejection(namesFor('terminate'))).toMatchObject({ error: 'ForbiddenError' })
})

test('catalog: a rule without verbs on runs does not open it', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ can: ['metrics', 'stop'] })] })

  expect(await rejection(workflows.catalog('orders', call))).toMatchObject({ error: 'ForbiddenError' })
})

test('capabilities: a caller with rules sees neither version nor URL of the engine', async () => {
  const capabilities = (async () => ({ engine: { version: '1.32', uiUrl: 'https://ui' } })) as never
  const caller = makeGuard({ grants: [], verbs: { capabilities } })
  const operator = makeGuard({ grants: null, verbs: { capabilities } })

  expect((await caller.workflows.capabilities(caller.call)).engine).toEqual({ version: null, uiUrl: null })
  expect((await operator.workflows.capabilities(operator.call)).engine.uiUrl).toBe('https://ui')
})

test('an operator passes unchanged, and without a rule in the audit log', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: null })

  await workflows.start({ ...START, idempotencyKey: 'k' }, call)

  expect(done).toEqual([{ verb: 'start', command: { ...START, idempotencyKey: 'k' } }])
  expect(described).toEqual([])
  expect(call.audited).toEqual({ action: 'start', rule: null, workflowName: 'order' })
})
