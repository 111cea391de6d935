import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import { rejecting, rejection } from '../api.ts'
import { answerOf, JSON_TYPE, makeHookApi, START } from './hook-api.ts'

test('start: only the id and the argument are those of the event', async () => {
  const { send, sent } = makeHookApi({ scheme: 'github', start: START })
  const body = { id: 7, workflowId: 'x', workflowName: 'x', catalog: 'x', options: { memo: {} }, idempotencyKey: 'x' }

  const response = await send(JSON.stringify(body), { ...JSON_TYPE, 'X-GitHub-Event': 'push' }, 'delivery-1')

  expect(await answerOf(response)).toEqual([202, { workflowId: 'w', runId: 'r' }])
  expect(sent).toEqual([
    {
      verb: 'start',
      command: {
        workflowName: 'order',
        workflowId: 'order:7',
        catalog: 'orders',
        args: [{ headers: { 'x-github-event': 'push', 'x-github-delivery': 'delivery-1' }, body }],
        argumentPointer: '',
        options: { workflowIdReusePolicy: 'reject-duplicate' },
      },
      caller: {
        id: 'hook:h',
        grants: [
          {
            rule: 'hook:h',
            can: ['start'],
            ids: ['order:7'],
            catalogs: ['orders'],
            options: ['workflowIdReusePolicy'],
          },
        ],
        limits: null,
      },
    },
  ])
})

test('signal: the key is the id of the event', async () => {
  const signal = { workflowId: 'repo:{/repository/full_name}', name: 'push' }
  const { send, sent } = makeHookApi({ scheme: 'standard', argument: 'body', signal })
  const body = { repository: { full_name: 'Ada/x:*' } }

  const response = await send(JSON.stringify(body), JSON_TYPE, 'msg_1')

  expect(await answerOf(response)).toEqual([202, { workflowId: 'w', runId: null }])
  expect(sent[0]?.command).toEqual({
    ref: { workflowId: 'repo:~41da~2fx~3a~2a' },
    message: { name: 'push', args: [body], argumentPointer: '' },
    idempotencyKey: 'msg_1',
  })
  expect(sent[0]?.caller?.grants?.[0]?.can).toEqual(['signal:push'])
})

test('signalWithStart: the signal has the argument, and the workflow starts without one', async () => {
  const { send, sent } = makeHookApi({
    scheme: 'stripe',
    argument: 'body',
    signalWithStart: { start: { ...START, catalog: 'others' }, signal: { name: 'event' } },
  })

  await send('{"id":"evt_1"}')

  expect(sent[0]?.command).toEqual({
    start: {
      workflowName: 'order',
      workflowId: 'order:evt_1',
      catalog: 'others',
      args: [],
      argumentPointer: '',
      idempotencyKey: 'evt_1',
    },
    signal: { name: 'event', args: [{ id: 'evt_1' }], argumentPointer: '' },
  })
  expect(sent[0]?.caller?.grants?.[0]?.can).toEqual(['start', 'signal:event'])
})

test('without a workflow id, the id has the id of the event, encoded like a claim', async () => {
  const { send, sent } = makeHookApi({ scheme: 'standard', start: { workflowName: 'order' } })
  const token = makeHookApi({ scheme: 'token', start: { workflowName: 'order' } })

  await send('{}', JSON_TYPE, 'msg_A:*')
  await token.send('{}')
  await token.send('{}')

  expect(sent[0]?.command).toMatchObject({ workflowId: 'hook:h:msg_~41~3a~2a' })
  const ids = token.sent.map(({ command }) => (command as { workflowId: string }).workflowId)
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^hook:h:[\da-f-]{36}$/)
})

test('an id can be a large integer, and a body that has no value for it is a 400', async () => {
  const { send, sent } = makeHookApi({ scheme: 'github', start: START })
  const bodies = ['{}', '{"id":""}', '{"id":1.5}', '{"id":null}', '{"id":{"a":1}}', '[]', '7', '12345678901234567890']

  await send('{"id":12345678901234567890}')
  const responses = await Promise.all([...bodies, `{"id":"${'x'.repeat(1000)}"}`].map((body) => send(body)))

  expect(sent.map(({ command }) => command)).toMatchObject([{ workflowId: 'order:12345678901234567890' }])
  expect(await Promise.all(responses.map(rejection))).toEqual(responses.map(() => [400, 'ValidationError']))
})

test('a repeated event is a 200 that says so', async () => {
  const hook = { scheme: 'stripe', signalWithStart: { start: START, signal: { name: 'event' } } } as const
  const alreadyStarted = rejecting('WorkflowAlreadyStartedError')
  const repeated = { workflowId: 'w', runId: 'r', started: false, warnings: [], isRepeated: true as const }
  const start = makeHookApi({ scheme: 'stripe', start: START }, { workflows: { start: alreadyStarted } })
  const signal = makeHookApi(hook, { workflows: { signalWithStart: async () => repeated } })
  const changed = makeHookApi(hook, { workflows: { signalWithStart: rejecting('IdempotencyKeyReusedError') } })

  for (const { send } of [start, signal, changed])
    expect(await answerOf(await send('{"id":"evt_1"}'))).toEqual([200, { duplicate: true }])
})

const CHARGE = { scheme: 'github', complete: { workflowId: 'order:{/id}', activityId: 'charge:{/no}' } } as const

test('complete: the event becomes the output, its id the key, and the hook may complete nothing else', async () => {
  const { send, sent } = makeHookApi({ ...CHARGE, argument: 'body' })

  const response = await send(JSON.stringify({ id: 7, no: 'A/b', activityId: 'x' }), JSON_TYPE, 'delivery-1')

  expect(await answerOf(response)).toEqual([202, { workflowId: 'w', runId: 'r' }])
  expect(sent).toMatchObject([
    {
      verb: 'completeActivity',
      command: {
        ref: { workflowId: 'order:7' },
        activityId: 'charge:~41~2fb',
        output: { id: 7, no: 'A/b', activityId: 'x' },
        idempotencyKey: 'delivery-1',
      },
      caller: { id: 'hook:h', grants: [{ can: ['complete'], ids: ['order:7'] }] },
    },
  ])
})

test('complete: a body without the id of the activity, or with one that is too long, is a 400', async () => {
  const { send, sent } = makeHookApi(CHARGE)

  const missing = await send('{"id": 7}')
  const long = await send(JSON.stringify({ id: 7, no: 'x'.repeat(1000) }))

  expect(await rejection(missing)).toEqual([400, 'ValidationError'])
  expect(await rejection(long)).toEqual([400, 'ValidationError'])
  expect(sent).toEqual([])
})

test('complete: an event that came before is a duplicate, and one for an activity that is over is a 404', async () => {
  const repeated = { workflowId: 'w', runId: 'r', activityId: 'a', isRepeated: true }
  const over = new ServiceError('ActivityNotFoundError', 'over', { details: { completed: true } })
  const again = makeHookApi(CHARGE, { workflows: { completeActivity: async () => repeated } })
  const late = makeHookApi(CHARGE, { workflows: { completeActivity: async () => Promise.reject(over) } })
  const body = JSON.stringify({ id: 7, no: 1 })

  expect(await answerOf(await again.send(body))).toEqual([200, { duplicate: true }])
  expect(await rejection(await late.send(body))).toEqual([404, 'ActivityNotFoundError'])
})
