import { expect, test } from 'vitest'
import { guarded } from '../../../../src/domain/access/guard.ts'
import { sealPageToken } from '../../../../src/domain/inspect/page-token.ts'
import type { Grant } from '../../../../src/domain/model/caller.ts'
import type { ChainState } from '../../../../src/domain/model/chain-state.ts'
import { idInUse, ServiceError, workflowNotFound } from '../../../../src/domain/model/errors.ts'
import type { ListedRun } from '../../../../src/domain/model/run-filter.ts'
import type { StartCommand, Workflows } from '../../../../src/domain/model/workflows.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription } from '../catalog-fixture.ts'

const RUN_ID = '01a20cdc-7f73-7485-8a11-b95c90e3c290'
const MESSAGE = { name: 'approve', args: [], argumentPointer: '/payload' }
const START: StartCommand = { workflowName: 'order', catalog: 'orders', args: [], argumentPointer: '/input' }

function aGrant(overrides: Partial<Grant>): Grant {
  return { rule: 'users', can: ['*'], options: [], ...overrides }
}

interface GuardFixture {
  /** Null: an operator. */
  grants: Grant[] | null
  /** Verbs that do more than to record their call. */
  verbs?: Partial<Workflows>
  /** The workflow of the run `u:ada:1`; null if there is no run. */
  runOf?: string | null
  /** Which of its runs do not exist any more. */
  isDeleted?: (runId: string | undefined) => boolean
}

/** The guard around verbs that record their calls, and a call of the caller. */
function makeGuard({ grants, verbs = {}, runOf = 'order', isDeleted = () => false }: GuardFixture) {
  const done: { verb: string; command: unknown }[] = []
  const described: unknown[] = []
  const recording = new Proxy(verbs, {
    get: (given, verb: string) => async (command: unknown, call: unknown) => {
      done.push({ verb, command })
      const act = Reflect.get(given, verb)
      return act === undefined ? {} : act(command, call)
    },
  })
  const read = (ref: { workflowId: string; runId?: string }) => {
    described.push(ref)
    if (runOf === null || isDeleted(ref.runId)) throw workflowNotFound(ref)
    return { ...aDescription({ ...ref, runId: ref.runId ?? RUN_ID, workflowName: runOf }), open: true }
  }
  const workflows = guarded(recording as Workflows, {
    namespace: 'default',
    defaults: { catalog: 'orders', namespace: 'default' },
    engine: { describe: async (ref) => read(ref) },
    knownRuns: { read: async (ref) => ({ value: read(ref), readAt: Date.now() }) },
    catalogs: {
      published: () => ({
        value: {
          run: { workflowId: '$catalog:orders', runId: 'c1' },
          hash: 'h',
          version: null,
          redacted: false,
          traces: null,
          workflowNames: new Map([
            ['order', 'order'],
            ['bestellung', 'order'],
            ['admin', 'admin'],
          ]),
        },
        readAt: Date.now(),
      }),
    },
  })
  const call = aCall({ caller: { id: 'jwt:main:ada', grants, limits: null } })
  return { workflows, call, done, described }
}

const REF = { workflowId: 'u:ada:1' }

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

test('start: an id is generated in the first granted pattern, also from the key, which belongs to the caller', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ ids: ['fixed', 'u:ada:*'] })] })

  await workflows.start(START, call)
  await workflows.start({ ...START, idempotencyKey: 'k' }, call)

  expect(done.map(({ command }) => command)).toEqual([
    { ...START, workflowId: expect.stringMatching(/^u:ada:[\da-f-]{36}$/) },
    {
      ...START,
      idempotencyKey: 'jwt:main:ada\nk',
      workflowId: expect.stringMatching(/^u:ada:key-[\da-f]{32}$/),
    },
  ])
})

test('start: without a pattern that has room for an id, the client must name one', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ ids: ['fixed'] })] })

  expect(await rejection(workflows.start(START, call))).toMatchObject({ error: 'ForbiddenError', action: 'start' })
  await workflows.start({ ...START, workflowId: 'fixed' }, call)

  expect(done).toHaveLength(1)
})

test('start: a claim that makes the generated id too long for the engine leaves no room for one', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ ids: [`u:${'a'.repeat(990)}:*`] })] })

  expect(await rejection(workflows.start(START, call))).toMatchObject({ error: 'ForbiddenError', action: 'start' })
  expect(done).toEqual([])
})

test('start: the conflict policy fail is what a start without it does, so it needs no option', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({})] })

  await workflows.start({ ...START, options: { workflowIdConflictPolicy: 'fail' } }, call)

  expect(done).toHaveLength(1)
})

test('start: an alias counts as the workflow behind it', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })

  await workflows.start({ ...START, workflowName: 'bestellung' }, call)

  expect(done).toMatchObject([{ command: { workflowName: 'order' } }])
  expect(await rejection(workflows.start({ ...START, workflowName: 'admin' }, call))).toMatchObject({
    error: 'ForbiddenError',
  })
})

test('start: catalogs and options must be granted', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ options: ['memo'] })] })
  const start = (more: Partial<StartCommand>) => rejection(workflows.start({ ...START, ...more }, call))

  expect(await start({ catalog: 'others' })).toMatchObject({ error: 'ForbiddenError' })
  expect((await start({ options: { memo: {}, startDelayMs: 1 } })).message).toBe(
    'The policy does not allow "start" for workflow "order", catalog "orders", options memo, startDelay with this credential',
  )
  await workflows.start({ ...START, options: { memo: {} } }, call)
  expect(done).toHaveLength(1)
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

test('run: also needs to read the id, even if it does not wait', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ can: ['start'], ids: ['u:ada:*'] })] })

  expect(await rejection(workflows.run({ ...START, timeoutMs: 1 }, call))).toMatchObject({ action: 'read' })
  expect(await rejection(workflows.start({ ...START, mayRead: true }, call))).toMatchObject({ action: 'read' })
})

test('run: a rule that allows all of it decides, also after one that allows a start alone', async () => {
  const grants = [aGrant({ rule: 'ci', can: ['start'], ids: ['ci:*'] }), aGrant({ rule: 'users', ids: ['u:ada:*'] })]
  const { workflows, call, done } = makeGuard({ grants })

  await workflows.run({ ...START, timeoutMs: 1 }, call)

  expect(done).toMatchObject([{ verb: 'run', command: { workflowId: expect.stringMatching(/^u:ada:/) } }])
  expect(call.audited).toMatchObject({ action: 'start', rule: 'users' })
})

test('run: a denial names no id that the client did not send', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ can: ['start'], ids: ['u:ada:*'] })] })

  expect(await rejection(workflows.run({ ...START, timeoutMs: 1 }, call))).toEqual({
    error: 'ForbiddenError',
    message: 'The policy does not allow "read" for workflow "order" with this credential',
    action: 'read',
  })
  expect(call.audited).toEqual({ action: 'read', rule: 'none', workflowName: 'order' })
})

test('what may reach an open run of another workflow needs a rule with ids, or without workflows', async () => {
  const options = { workflowIdConflictPolicy: 'use-existing' } as const
  const attach = (grant: Partial<Grant>) => {
    const { workflows, call, done } = makeGuard({ grants: [aGrant({ options: ['*'], ...grant })] })
    const start = { ...START, workflowId: 'u:ada:1' }
    return Promise.allSettled([
      workflows.start({ ...start, options }, call),
      workflows.signalWithStart({ start, signal: MESSAGE }, call),
      workflows.updateWithStart({ start, update: MESSAGE }, call),
    ]).then(() => done.length)
  }

  expect(await attach({ workflows: ['order'] })).toBe(0)
  expect(await attach({ workflows: ['order'], ids: ['u:ada:*'] })).toBe(3)
  expect(await attach({})).toBe(3)
})

test('terminate-existing also needs terminate, and a message of a start its own verb', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ can: ['start'], options: ['*'] })] })
  const options = { workflowIdConflictPolicy: 'terminate-existing' } as const

  expect(await rejection(workflows.start({ ...START, options }, call))).toMatchObject({ action: 'terminate' })
  expect(await rejection(workflows.signalWithStart({ start: START, signal: MESSAGE }, call))).toMatchObject({
    action: 'signal:approve',
  })
})

test('errors of a start name only what the caller may know', async () => {
  const verbs: Partial<Workflows> = {
    async start({ workflowId = '' }) {
      if (workflowId === 'u:ada:1') throw idInUse({ workflowId, runId: RUN_ID })
      throw new ServiceError('UnsupportedWorkflowError', 'no', { details: { available: ['order', 'admin'] } })
    },
  }
  const starting = { can: ['start'], workflows: ['order*'] }
  const starter = makeGuard({ grants: [aGrant(starting)], verbs })
  const reader = makeGuard({ grants: [aGrant(starting), aGrant({ can: ['read'] })], verbs })
  const known = { ...START, workflowId: 'u:ada:1' }

  expect(await rejection(starter.workflows.start(known, starter.call))).not.toHaveProperty('runId')
  expect(await rejection(reader.workflows.start(known, reader.call))).toMatchObject({ runId: RUN_ID })
  expect(await rejection(starter.workflows.start(START, starter.call))).toMatchObject({ available: ['order'] })
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

test('validate needs what start needs, and is no start in the audit log', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ can: ['start'] })] })

  await workflows.validate(START, call)

  expect(call.audited).toMatchObject({ action: 'validate', rule: 'users' })
})
