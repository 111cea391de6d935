import { expect, test } from 'vitest'
import type { ChainState } from '../../../../src/service/model/chain-state.ts'
import { rejection } from '../../call.ts'
import { entry } from '../openapi/typed/catalog-document.ts'
import { aGrant, makeGuard, REF, RUN_ID, START } from './guard-fixture.ts'

test('a rule with ids alone costs no engine call', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: [aGrant({ ids: ['u:ada:*'] })] })

  await workflows.status({ ref: REF }, call)

  expect(described).toEqual([])
  expect(done).toEqual([{ verb: 'status', command: { ref: REF } }])
  expect(call.audited).toEqual({ action: 'read', rule: 'users', ...REF })
})

test('with workflows in the rule, an unpinned request acts on the run that was checked (threat 16)', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })

  await workflows.terminate({ ref: REF, reason: null }, call)

  expect(described).toEqual([REF])
  expect(done).toEqual([{ verb: 'terminate', command: { ref: { ...REF, runId: RUN_ID }, reason: null } }])
})

test.each([REF, { ...REF, runId: RUN_ID }])(
  'a run of another workflow gets the error of a run that does not exist: %o (threat 22)',
  async (ref) => {
    const grants = [aGrant({ workflows: ['order'] })]
    const other = makeGuard({ grants, runOf: 'secret' })
    const missing = makeGuard({ grants, runOf: null })

    expect(await rejection(other.workflows.status({ ref: ref }, other.call))).toEqual(
      await rejection(missing.workflows.status({ ref: ref }, missing.call)),
    )
    expect(other.done).toEqual([])
    expect(other.call.audited.rule).toBe('none')
  },
)

test('a link to a question shows the run that the caller may read, although a rule for links names no workflows (threat 16)', async () => {
  const grants = [aGrant({ can: ['read'], workflows: ['order'] }), aGrant({ can: ['link', 'signal'] })]
  const { workflows, call, done } = makeGuard({ grants })

  const link = { ref: REF, kind: 'signal', handler: '', question: 'approve', expiresInMs: 1000 } as const
  await workflows.createLink({ ...link, details: [] }, call)

  expect(done).toMatchObject([{ verb: 'createLink', command: { ref: { ...REF, runId: RUN_ID } } }])
})

test('readChain: a run that was deleted is allowed like the latest run, if that is of its chain', async () => {
  const pinned = { ...REF, runId: '01a20cdc-0000-7485-8a11-b95c90e3c290' }
  const readAs = async (runOf: string, lastRunId: string) => {
    const readChain = async () => ({ kind: 'open', runId: lastRunId }) as ChainState
    const verbs = { readChain }
    const isDeleted = (runId: string | undefined) => runId === pinned.runId
    const { workflows, call } = makeGuard({ grants: [aGrant({ workflows: ['order'] })], verbs, runOf, isDeleted })
    return workflows.readChain({ ref: pinned }, call).then(
      ({ runId }) => runId,
      ({ name }) => name,
    )
  }

  expect(await readAs('order', RUN_ID)).toBe(RUN_ID)
  expect(await readAs('admin', RUN_ID)).toBe('WorkflowNotFoundError')
  expect(await readAs('order', pinned.runId)).toBe('WorkflowNotFoundError')
})

test('reading an update: its handler is checked for callers whose rules name handlers (threat 21)', async () => {
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

test('list: a rule for everything filters nothing', async () => {
  const { workflows, call, done } = makeGuard({ grants: [aGrant({ ids: ['u:ada:*'] }), aGrant({ ids: ['*'] })] })

  await workflows.count({ filter: {}, byStatus: false }, call)

  expect(done).toEqual([{ verb: 'count', command: { filter: {}, byStatus: false } }])
})

const STREAM = { ref: REF, from: 0, topics: [], followsChain: true } as const

test('stream: the run of the position is checked, not the latest one, also after its last event (threat 16)', async () => {
  const positions = ([0, 'end'] as const).map((last) => ({ runId: RUN_ID, last }))
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

test('capabilities: a caller with rules sees what they allow, and neither version nor URL of the engine (threat 44)', async () => {
  const elsewhere = aGrant({ can: ['terminate'], namespaces: ['other'] })
  const capabilities = (async () => ({ engine: { version: '1.32', uiUrl: 'https://ui' } })) as never
  const grants = [aGrant({ can: ['read', 'list'] }), aGrant({ can: ['signal:approve', 'read'] }), elsewhere]
  const caller = makeGuard({ grants, verbs: { capabilities } })
  const operator = makeGuard({ grants: null, verbs: { capabilities } })

  const seen = await caller.workflows.capabilities({}, caller.call)
  expect(seen.engine).toEqual({ version: null, uiUrl: null })
  expect(seen.caller).toEqual({ name: expect.any(String), can: ['list', 'read', 'signal:approve'] })
  expect((await operator.workflows.capabilities({}, operator.call)).engine.uiUrl).toBe('https://ui')
})

test('an operator passes unchanged, and without a rule in the audit log', async () => {
  const { workflows, call, done, described } = makeGuard({ grants: null })

  await workflows.start({ ...START, idempotencyKey: 'k' }, call)

  expect(done).toEqual([{ verb: 'start', command: { ...START, idempotencyKey: 'k' } }])
  expect(described).toEqual([])
  expect(call.audited).toEqual({ action: 'start', rule: null, workflowName: 'order' })
})

test('catalog: shows the activities that the caller may start; to rules for some workflows none', async () => {
  const listing = { catalog: 'orders', inputsChecked: true, workflows: [entry('order')] }
  const activities = ['charge', 'chargeBack', 'refund'].map((name) => entry(name))
  const catalog = async () => ({ ...listing, activities })
  const namesFor = async (...grants: Parameters<typeof aGrant>[0][]) => {
    const { workflows, call } = makeGuard({ grants: grants.map(aGrant), verbs: { catalog } })
    const listed = await workflows.catalog({ catalog: 'orders' }, call)
    return [listed.workflows, listed.activities].map((entries) => entries.map(({ name }) => name).join())
  }

  expect(await namesFor({ can: ['activity'] })).toEqual(['', 'charge,chargeBack,refund'])
  expect(await namesFor({ can: ['activity:charge*', 'read'] })).toEqual(['order', 'charge,chargeBack'])
  expect(await namesFor({ can: ['activity:charge'] }, { can: ['activity:refund'] })).toEqual(['', 'charge,refund'])
  expect(await namesFor({ can: ['read'] }, { can: ['activity'], catalogs: ['other'] })).toEqual(['order', ''])
  expect(await namesFor({ can: ['*'], workflows: ['order'] })).toEqual(['order', ''])
  await expect(namesFor({ can: ['activity'], workflows: ['order'] })).rejects.toMatchObject({ error: 'ForbiddenError' })
})

const OPERATIONS = {
  startActivity: 'start',
  stopActivity: 'stop',
  terminateActivity: 'terminate',
  completeStandalone: 'complete',
  failStandalone: 'fail',
  heartbeatStandalone: 'heartbeat',
} as const

test.for(Object.entries(OPERATIONS) as [keyof typeof OPERATIONS, string][])(
  'the audit log says of %s that its operation is %s',
  async ([verb, operation]) => {
    const { workflows, call } = makeGuard({ grants: null })
    const ref = { activityId: 'charge-17' }

    await workflows[verb]({ ...ref, ref, activityName: 'charge', catalog: 'orders', args: [] } as never, call)

    expect(call.audited).toMatchObject({ operation, rule: null, ...ref })
  },
)

test('a start of an activity gives only the limits that its rule names', async () => {
  const grants = [aGrant({ can: ['activity'], options: ['heartbeatTimeout'] })]
  const { workflows, call, done } = makeGuard({ grants })
  const start = { activityId: 'charge-17', activityName: 'charge', catalog: 'orders', args: [], argumentPointer: '' }
  const limits = { startToCloseTimeoutMs: 1, scheduleToCloseTimeoutMs: 1 }
  const started = (...givenLimits: string[]) => workflows.startActivity({ ...start, limits, givenLimits }, call)

  await started('heartbeatTimeout')
  expect(await rejection(started('heartbeatTimeout', 'startToCloseTimeout'))).toMatchObject({ error: 'ForbiddenError' })
  expect(done).toHaveLength(1)
})
