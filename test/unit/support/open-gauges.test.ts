import { expect, test } from 'vitest'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { openGauges } from '../../support/open-gauges.ts'

const BUILD = { version: '1.2.3', runtime: 'node', transport: 'grpc' }
const POLL = { method: 'getWorkflowExecutionHistory', isPoll: true } as const

test('open gauges: requests, queued requests, waits, polls and readers count until they end, and counters never do', () => {
  const metrics = createMetrics(BUILD)
  const open = () => openGauges(metrics.text(), { countScrapes: false }).map((gauge) => gauge.replace(/[{ ].*/, ''))
  const idle = open()

  metrics.requestStarted('POST')
  metrics.inFlightChanged(1)
  metrics.queuedChanged(1)
  metrics.waitStarted()
  metrics.callStarted(POLL)
  for (const name of ['readers', 'feeds', 'bytes'] as const) metrics.streamsChanged(name, 1)
  const busy = open()
  metrics.requestEnded({ method: 'POST', route: null, status: 200, ms: 1 })
  metrics.inFlightChanged(-1)
  metrics.queuedChanged(-1)
  metrics.waitEnded()
  metrics.callEnded(POLL, 'OK', 1)
  for (const name of ['readers', 'feeds', 'bytes'] as const) metrics.streamsChanged(name, -1)

  expect(busy.toSorted()).toEqual([
    'http_server_active_requests',
    'portico_open_polls',
    'portico_open_waits',
    'portico_requests_in_flight',
    'portico_requests_queued',
    'portico_stream_buffered_bytes',
    'portico_stream_feeds',
    'portico_stream_readers',
  ])
  expect([idle, open()]).toEqual([[], []])
})

test('open gauges: the request that reads the metrics may be one of those that they count', () => {
  const metrics = createMetrics(BUILD)
  metrics.requestStarted('GET')

  const open = [true, false].map((countScrapes) => openGauges(metrics.text(), { countScrapes }).length)

  expect(open).toEqual([0, 1])
})
