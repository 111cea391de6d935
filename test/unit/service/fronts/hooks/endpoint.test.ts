import { expect, test } from 'vitest'
import { rejection } from '../../http/api.ts'
import { answerOf, JSON_TYPE, makeHookApi, START } from '../../http/endpoints/hook-api.ts'

test('start: only the id and the argument are those of the event (threat 33)', async () => {
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
        kind: 'granted',
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
  expect(sent[0]?.caller).toMatchObject({ grants: [{ can: ['start', 'signal:event'] }] })
})

test('an id can be a large integer, and a body that has no value for it is a 400', async () => {
  const { send, sent } = makeHookApi({ scheme: 'github', start: START })
  const bodies = [
    '{}',
    '{"id":""}',
    '{"id":1.5}',
    '{"id":null}',
    '{"id":{"a":1}}',
    '{"id":"\\ud800"}',
    '[]',
    '7',
    '12345678901234567890',
  ]

  await send('{"id":12345678901234567890}')
  const responses = await Promise.all([...bodies, `{"id":"${'x'.repeat(1000)}"}`].map((body) => send(body)))

  expect(sent.map(({ command }) => command)).toMatchObject([{ workflowId: 'order:12345678901234567890' }])
  expect(await Promise.all(responses.map(rejection))).toEqual(responses.map(() => [400, 'ValidationError']))
})

const CHARGE = { scheme: 'github', complete: { workflowId: 'order:{/id}', activityId: 'charge:{/no}' } } as const

test('complete: a body without the id of the activity, or with one that is too long or not Unicode, is a 400', async () => {
  const { send, sent } = makeHookApi(CHARGE)

  const missing = await send('{"id": 7}')
  const long = await send(JSON.stringify({ id: 7, no: 'x'.repeat(1000) }))
  const lone = await send('{"id":7,"no":"\\udfff"}')

  expect(await rejection(missing)).toEqual([400, 'ValidationError'])
  expect(await rejection(long)).toEqual([400, 'ValidationError'])
  expect(await rejection(lone)).toEqual([400, 'ValidationError'])
  expect(sent).toEqual([])
})
