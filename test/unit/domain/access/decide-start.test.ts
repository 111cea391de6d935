import { expect, test } from 'vitest'
import type { Grant } from '../../../../src/domain/model/caller.ts'
import { idInUse, ServiceError } from '../../../../src/domain/model/errors.ts'
import type { StartCommand, Workflows } from '../../../../src/domain/model/workflows.ts'
import { rejection } from '../../call.ts'
import { aGrant, MESSAGE, makeGuard, RUN_ID, START } from './guard-fixture.ts'

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
  expect((await rejection(workflows.start({ ...START, workflowName: 'admin' }, call))).error).toBe('ForbiddenError')
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

test('validate needs what start needs, and is no start in the audit log', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ can: ['start'] })] })

  await workflows.validate(START, call)

  expect(call.audited).toMatchObject({ action: 'validate', rule: 'users' })
})
