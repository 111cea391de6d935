import { expect, test } from 'vitest'
import { ServiceError } from '../../../src/domain/model/errors.ts'
import { makeApi, running } from './api.ts'

test('log: one line for each request, with its facts and without the query string', async () => {
  const { call, events } = makeApi({
    workflows: {
      status: async (_ref, { note }) => {
        note({ rpcs: 1 })
        return running
      },
    },
  })

  await call('GET', '/workflow/w/status?token=s3cret', undefined, { 'X-Request-Id': 'mine' })

  expect(events).toEqual([
    {
      level: 'info',
      message: 'request',
      fields: {
        requestId: 'mine',
        method: 'GET',
        route: '/workflow/:id/status',
        status: 200,
        ms: expect.any(Number),
        rpcs: 1,
      },
    },
  ])
})

test('log: the route is the one that handles the request, if several match', async () => {
  const { call, events } = makeApi()

  await call('POST', '/workflow/signal-with-start/pause')

  expect(events).toMatchObject([{ fields: { route: '/workflow/signal-with-start/:name' } }])
})

test('log: an error response is logged with its name', async () => {
  const { call, events } = makeApi()

  await call('GET', '/nope')

  expect(events).toMatchObject([{ level: 'info', fields: { route: null, status: 404, error: 'NotFoundError' } }])
})

test('log: an unexpected response of the engine is logged with its cause', async () => {
  const cause = new Error('7 PERMISSION_DENIED: Request unauthorized.')
  const { call, events } = makeApi({
    workflows: { status: () => Promise.reject(new ServiceError('EngineError', 'no', { cause })) },
  })

  const response = await call('GET', '/workflow/w/status')

  expect(await response.text()).not.toContain('PERMISSION_DENIED')
  expect(events).toMatchObject([{ level: 'error', fields: { status: 502, error: 'EngineError', cause } }])
})

test('log: a failing workflow task is logged with its failure, a client error without its cause', async () => {
  const cause = new Error('boom')
  const { call, events } = makeApi({
    workflows: { query: () => Promise.reject(new ServiceError('WorkflowNotReadyError', 'no', { cause })) },
  })

  await call('POST', '/workflow/w/query/q')
  await call('POST', '/workflow/w/query/q', '{"payload":s3cret}')

  expect(events.map((event) => event.fields.cause)).toEqual([cause, undefined])
})

test('log: probes are logged at the debug level', async () => {
  const { call, events } = makeApi()

  await call('GET', '/health')

  expect(events.map((event) => event.level)).toEqual(['debug'])
})
