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

test('execution: ids are decoded once', async () => {
  const { call, refs } = makeRunApi()

  for (const id of ['a%2Fb', 'a%252Fb', 'a%20b+c', '%C3%A9', 'a%3Fb%23c', '%25zz'])
    await call('GET', `/workflow/${id}/status`)

  expect(refs.map((ref) => ref.workflowId)).toEqual(['a/b', 'a%2Fb', 'a b+c', 'é', 'a?b#c', '%zz'])
})

test('execution: malformed escapes are a 400', async () => {
  const { call, refs } = makeRunApi()

  for (const path of [
    '/workflow/%/status',
    '/workflow/%zz/status',
    '/workflow/%C3/status',
    '/workflow/%ED%A0%80/status',
    '/workflow/w/query/%E0%A4',
  ]) {
    const method = path.includes('query') ? 'POST' : 'GET'
    expect([path, ...(await rejection(await call(method, path)))]).toEqual([path, 400, 'ValidationError'])
  }
  expect(refs).toEqual([])
})

test('execution: reserved and oversized ids are a 400', async () => {
  const { call, refs } = makeRunApi()

  for (const id of [
    '%24catalog:orders',
    '__temporal_x',
    'catalog',
    'runs',
    'signal-with-start',
    'update-with-start',
    'a%00b',
    'x'.repeat(1001),
    '%C3%BC'.repeat(501),
  ]) {
    const response = await call('PATCH', `/workflow/${id}/stop`)
    const body = await response.json()
    expect([id, response.status, body.error, body.issues.length]).toEqual([id, 400, 'ValidationError', 1])
  }
  expect(refs).toEqual([])
  expect((await call('GET', `/workflow/${'x'.repeat(1000)}/status`)).status).toBe(200)
})

test('execution: names of Object.prototype are ordinary ids', async () => {
  const { call, refs } = makeRunApi()

  await call('GET', '/workflow/__proto__/status')
  await call('GET', '/workflow/toString/status')

  expect(refs).toEqual([{ workflowId: '__proto__' }, { workflowId: 'toString' }])
})

test('execution: a run id is a UUID of any version, lower-cased', async () => {
  const { call, refs } = makeRunApi()

  await call('GET', `/workflow/w/runs/${RUN_ID.toUpperCase()}/status`)
  const bad = await Promise.all(
    ['17', '%20', 'null', `${RUN_ID}0`].map((id) => call('GET', `/workflow/w/runs/${id}/status`)),
  )

  expect(refs).toEqual([{ workflowId: 'w', runId: RUN_ID }])
  for (const response of bad) expect(await rejection(response)).toEqual([400, 'ValidationError'])
})

test('execution: reserved handler names are a 400', async () => {
  const { call } = makeRunApi()

  for (const name of ['__stack_trace', '__proto__', '%24x', 'x'.repeat(1001), 'a%00']) {
    for (const kind of ['signal', 'query', 'update']) {
      const response = await call('POST', `/workflow/w/${kind}/${name}`)
      expect([kind, name, ...(await rejection(response))]).toEqual([kind, name, 400, 'ValidationError'])
    }
  }
  expect((await call('POST', '/workflow/w/query/toString')).status).toBe(200)
})

test('message: payload is one argument, args are several, and an empty body has none', async () => {
  const { call, messages } = makeRunApi()

  for (const body of [
    { payload: { a: 1 } },
    { payload: null },
    { payload: [1, 2] },
    { args: [1, null, [2]] },
    { args: [] },
    {},
    undefined,
  ]) {
    await call('POST', '/workflow/w/signal/s', body)
  }

  expect(messages.map((message) => message.args)).toEqual([[{ a: 1 }], [null], [[1, 2]], [1, null, [2]], [], [], []])
})

test('message: payload with args, null for args, and unknown fields are a 400', async () => {
  const { call, messages } = makeRunApi()
  const bodies = [
    { payload: 1, args: [1] },
    { args: 1 },
    { args: null },
    { args: { 0: 1 } },
    { arg: 1 },
    [1],
    'null',
    '1',
    '{"payload":',
  ]

  for (const body of bodies) {
    for (const kind of ['signal', 'query', 'update']) {
      const response = await call('POST', `/workflow/w/${kind}/x`, body)
      expect([kind, body, ...(await rejection(response))]).toEqual([kind, body, 400, 'ValidationError'])
    }
  }
  expect(messages).toEqual([])
})

test('message: keeps exact numbers and __proto__ keys in both directions', async () => {
  const { call } = makeRunApi()

  const response = await call(
    'POST',
    '/workflow/w/query/q',
    '{"args":[9007199254740993,{"__proto__":{"x":0.1234567890123456789}}]}',
  )

  expect(await response.text()).toBe('[9007199254740993,{"__proto__":{"x":0.1234567890123456789}}]')
})

test('signal: returns the run that received it', async () => {
  const { call } = makeRunApi()

  const body = await (await call('POST', '/workflow/w/signal/approve')).json()
  expect(body).toEqual({ workflowId: 'w', runId: RUN_ID, signal: 'approve', accepted: true })
})

test('update: returns null when the handler returns nothing', async () => {
  const { call } = makeRunApi()

  const response = await call('POST', '/workflow/w/update/u')

  expect([response.headers.get('Content-Type'), await response.text()]).toEqual(['application/json', 'null'])
})

test('stop and terminate: return what was done, with or without a reason', async () => {
  const { call, reasons } = makeRunApi()

  const stopped = await call('PATCH', '/workflow/w/stop', { reason: 'too late' })
  const terminated = await call('POST', '/workflow/w/terminate')

  expect(await stopped.json()).toEqual({ workflowId: 'w', runId: RUN_ID, cancelRequested: true, status: 'running' })
  expect(await terminated.json()).toEqual({ workflowId: 'w', runId: RUN_ID, terminated: true })
  expect(reasons).toEqual(['too late', null])
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

test('stop and terminate: reject unknown fields, and a reason with characters that the engine does not support', async () => {
  const { call, reasons } = makeRunApi()
  const bodies = [...[null, 7, 'a\0', '\ud800'].map((reason) => ({ reason })), { why: 'x' }, [], 'null']

  for (const body of bodies) {
    const stop = await rejection(await call('PATCH', '/workflow/w/stop', body))
    const terminate = await rejection(await call('POST', '/workflow/w/terminate', body))
    expect([body, stop, terminate]).toEqual([body, [400, 'ValidationError'], [400, 'ValidationError']])
  }
  expect(reasons).toEqual([])
})

test('status: times are ISO 8601 in UTC, or null', async () => {
  const { call } = makeRunApi()

  expect(await (await call('GET', '/workflow/w/status')).json()).toMatchObject({
    startedAt: '1970-01-01T00:00:00.000Z',
    completedAt: null,
  })
})
