import { expect, test } from 'vitest'
import { rejection } from '../../call.ts'
import { aGrant, makeGuard, START } from './guard-fixture.ts'

test('start: an id is generated in the first granted pattern, also from the key, which belongs to the caller (threats 12, 19)', async () => {
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

test('run: a rule that allows all of it decides, also after one that allows a start alone (threat 105)', async () => {
  const grants = [aGrant({ rule: 'ci', can: ['start'], ids: ['ci:*'] }), aGrant({ rule: 'users', ids: ['u:ada:*'] })]
  const { workflows, call, done } = makeGuard({ grants })

  await workflows.run({ ...START, timeoutMs: 1 }, call)

  expect(done).toMatchObject([{ verb: 'run', command: { workflowId: expect.stringMatching(/^u:ada:/) } }])
  expect(call.audited).toMatchObject({ action: 'start', rule: 'users' })
})

test('start: a denial is recorded with the workflow that was named', async () => {
  const { workflows, call } = makeGuard({ grants: [aGrant({ workflows: ['order'] })] })

  expect(await rejection(workflows.start({ ...START, workflowName: 'secret' }, call))).toMatchObject({
    error: 'ForbiddenError',
  })

  expect(call.audited).toMatchObject({ action: 'start', rule: 'none', workflowName: 'secret' })
})
