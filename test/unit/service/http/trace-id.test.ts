import { expect, test } from 'vitest'
import { traceIdOf } from '../../../../src/service/http/pipeline/observe.ts'
import { makeApi } from './api.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

test('log: the line of a request has the trace id of its traceparent, also without a tracer', async () => {
  const { call, events } = makeApi()

  await call('GET', '/health', undefined, { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` })
  await call('GET', '/health')

  expect(events.map(({ fields }) => fields.traceId)).toEqual([TRACE_ID, undefined])
})

test('log: the line of a request has the trace id of its span, and so do its warnings', async () => {
  const { call, events } = makeApi({
    workflows: {
      capabilities: async (_, { warn }) => {
        warn('odd', {})
        throw new Error('a bug')
      },
    },
    tracer: { startRequest: () => ({ traceId: TRACE_ID, contextHeaders: () => ({}), run: (act) => act(), end() {} }) },
  })

  await call('GET', '/capabilities')

  expect(events.map(({ message, fields }) => [message, fields.traceId])).toEqual([
    ['odd', TRACE_ID],
    ['request', TRACE_ID],
  ])
})

test('traceIdOf: a traceparent that the standard does not allow has none (threat 52)', () => {
  const invalid = [
    undefined,
    '',
    TRACE_ID,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-b7ad6b7169203331-01`,
    `00-${TRACE_ID}-b7ad6b7169203331-01evil`,
  ]

  expect(invalid.map(traceIdOf)).toEqual(invalid.map(() => null))
})
