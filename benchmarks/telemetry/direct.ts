/** The CPU time of what telemetry does for one request with one call of the engine, without anything around it. */
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, BatchSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createSpans, type Spans } from '../../src/telemetry/spans.ts'

const TIMES = 200_000
const ENDED = { method: 'GET', route: '/workflow/:id/status', status: 200, error: undefined, isServerError: false }

export async function printDirectCosts(): Promise<void> {
  const metrics = createMetrics({ version: '0', runtime: 'node', transport: 'grpc' })
  const call = { method: 'DescribeWorkflowExecution', isPoll: false }
  await printCost('metrics', async () => {
    metrics.requestStarted('GET')
    metrics.inFlightChanged(1)
    metrics.callStarted(call)
    metrics.callEnded(call, 'OK', 3)
    metrics.inFlightChanged(-1)
    metrics.requestEnded({ ...ENDED, ms: 4 })
  })
  for (const share of [0.1, 1]) await printCost(`${share * 100} % of the spans`, requestWith(createSpansOf(share)))
}

/** Spans that are recorded and dropped. */
function createSpansOf(share: number): Spans {
  const exporter = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: ExportResultCode.SUCCESS }),
    shutdown: async () => {},
  }
  trace.disable()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const sampler = new TraceIdRatioBasedSampler(share)
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ sampler, spanProcessors: [new BatchSpanProcessor(exporter)] }),
  )
  return createSpans()
}

function requestWith(spans: Spans): () => Promise<void> {
  const request = new Request('http://127.0.0.1:3001/workflow/order-17/status')
  return async () => {
    const span = spans.startRequest(request)
    await span.run(() => spans.call('temporal/DescribeWorkflowExecution', async () => {}, String))
    span.end(ENDED)
  }
}

async function printCost(name: string, act: () => Promise<void>): Promise<void> {
  let before = process.cpuUsage()
  for (let time = 0; time < 2 * TIMES; time++) {
    if (time === TIMES) before = process.cpuUsage()
    await act()
    // Lets the batch be exported.
    if (time % 256 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(before)
  console.log(`${name.padEnd(24)} ${((user + system) / TIMES).toFixed(1)} µs`)
}
