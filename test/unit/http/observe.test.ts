import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/domain/errors.ts'
import { makeApi, running } from './api.ts'

describe('log', () => {
  test('log: one event a request, with what was noted and without the query string', async () => {
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

  test('log: a refusal is told by its name', async () => {
    const { call, events } = makeApi()

    await call('GET', '/nope')

    expect(events).toMatchObject([{ level: 'info', fields: { route: null, status: 404, error: 'NotFoundError' } }])
  })

  test('log: an unforeseen answer of the engine is told whole', async () => {
    const cause = new Error('7 PERMISSION_DENIED: Request unauthorized.')
    const { call, events } = makeApi({
      workflows: { status: () => Promise.reject(new ServiceError('EngineError', 'no', { cause })) },
    })

    const response = await call('GET', '/workflow/w/status')

    expect(await response.text()).not.toContain('PERMISSION_DENIED')
    expect(events).toMatchObject([{ level: 'error', fields: { status: 502, error: 'EngineError', cause } }])
  })

  test('log: a workflow whose task keeps failing is told with its failure, a bad request without what it quotes', async () => {
    const cause = new Error('boom')
    const { call, events } = makeApi({
      workflows: { query: () => Promise.reject(new ServiceError('WorkflowNotReadyError', 'no', { cause })) },
    })

    await call('POST', '/workflow/w/query/q')
    await call('POST', '/workflow/w/query/q', '{"payload":s3cret}')

    expect(events.map((event) => event.fields.cause)).toEqual([cause, undefined])
  })

  test('log: probes are told only to those who look closely', async () => {
    const { call, events } = makeApi()

    await call('GET', '/health')

    expect(events.map((event) => event.level)).toEqual(['debug'])
  })
})
