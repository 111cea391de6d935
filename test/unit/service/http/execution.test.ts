import { expect, test } from 'vitest'
import { rejection } from './api.ts'
import { makeRunApi, RUN_ID } from './run-api.ts'

test('execution: every endpoint acts on the latest run, or on the pinned run', async () => {
  const { call, refs } = makeRunApi()
  const endpoints = [
    ['GET', '/status'],
    ['GET', '/result'],
    ['GET', '/trace-log'],
    ['POST', '/signal/s'],
    ['POST', '/query/q'],
    ['POST', '/update/u'],
    ['PATCH', '/stop'],
    ['POST', '/terminate'],
  ] as const

  const statuses: number[] = []
  for (const [method, path] of endpoints) {
    statuses.push((await call(method, `/workflow/w${path}`)).status)
    statuses.push((await call(method, `/workflow/w/runs/${RUN_ID}${path}`)).status)
  }

  expect(statuses).toEqual(Array(16).fill(200))
  expect(refs).toEqual(endpoints.flatMap(() => [{ workflowId: 'w' }, { workflowId: 'w', runId: RUN_ID }]))
})

test('execution: ids are decoded once (threat 51)', async () => {
  const { call, refs } = makeRunApi()

  for (const id of ['a%2Fb', 'a%252Fb', 'a%20b+c', '%C3%A9', 'a%3Fb%23c', '%25zz'])
    await call('GET', `/workflow/${id}/status`)

  expect(refs.map((ref) => ref.workflowId)).toEqual(['a/b', 'a%2Fb', 'a b+c', 'é', 'a?b#c', '%zz'])
})

test('execution: names of Object.prototype are ordinary ids (threat 50)', async () => {
  const { call, refs } = makeRunApi()

  await call('GET', '/workflow/__proto__/status')
  await call('GET', '/workflow/toString/status')

  expect(refs).toEqual([{ workflowId: '__proto__' }, { workflowId: 'toString' }])
})

test('message: keeps exact numbers and __proto__ keys in both directions (threat 50)', async () => {
  const { call } = makeRunApi()

  const response = await call(
    'POST',
    '/workflow/w/query/q',
    '{"args":[9007199254740993,{"__proto__":{"x":0.1234567890123456789}}]}',
  )

  expect(await response.text()).toBe('[9007199254740993,{"__proto__":{"x":0.1234567890123456789}}]')
})

test('pause, unpause and reset: return what was done, with or without a reason', async () => {
  const { call, refs, reasons, targets } = makeRunApi()

  const responses = [
    await call('POST', '/workflow/w/pause', { reason: 'lunch' }),
    await call('POST', '/workflow/w/unpause'),
    await call('POST', `/workflow/w/runs/${RUN_ID}/reset`, { stepName: 'charge', reason: 'a fix' }),
    await call('POST', '/workflow/w/reset', { eventId: 17 }),
  ]

  const [paused, unpaused, ...reset] = await Promise.all(responses.map((response) => response.json()))
  expect([paused, unpaused]).toEqual([
    { workflowId: 'w', runId: RUN_ID, paused: true },
    { workflowId: 'w', runId: RUN_ID, paused: false },
  ])
  expect(reset).toEqual([1, 2].map(() => ({ workflowId: 'w', runId: 'new', runsAgain: ['ship'] })))
  expect(targets).toEqual([{ stepName: 'charge' }, { eventId: 17 }])
  expect(reasons).toEqual(['lunch', null, 'a fix', null])
  expect(refs[2]).toEqual({ workflowId: 'w', runId: RUN_ID })
})

test('reset: without a step or an event, with both, or with an invalid one it is a 400', async () => {
  const { call, refs } = makeRunApi()
  const bodies = [
    undefined,
    { reason: 'x' },
    { stepName: 'a', eventId: 1 },
    { stepName: '' },
    { stepName: 7 },
    ...[0, -1, 1.5, '7', null].map((eventId) => ({ eventId })),
    { stepName: 'a', force: true },
  ]

  for (const body of bodies)
    expect([body, ...(await rejection(await call('POST', '/workflow/w/reset', body)))]).toEqual([
      body,
      400,
      'ValidationError',
    ])
  expect(refs).toEqual([])
})
