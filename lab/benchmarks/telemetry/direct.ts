/**
 * The CPU time of what telemetry does for one request with one call of the engine, without anything around it. Runs on
 * each runtime as a process of its own and prints microseconds as JSON, by the names in `measured`.
 */
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, BatchSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base'
import { median } from '../../../dev/percentiles.ts'
import type { Transport } from '../../../src/service/engine/transport/transport.ts'
import { createMetrics } from '../../../src/service/telemetry/metrics.ts'
import { hostTracer, observedTransport } from '../../../src/service/telemetry/observers.ts'
import { OTLPTraceExporter as JsonExporter } from '../../../src/service/telemetry/otlp/json.ts'
import { OTLPTraceExporter as ProtobufExporter } from '../../../src/service/telemetry/otlp/protobuf.ts'
import { createSpans } from '../../../src/service/telemetry/spans.ts'

interface Part {
  act(): Promise<unknown>
  /** Exports what `act` has recorded. */
  flush(): Promise<void>
}

const ROUNDS = 25
const TIMES = 8192
// With two spans each, two batches of the default size.
const FLUSH_EVERY = 512
const ENDED = { method: 'GET', route: '/workflow/:id/status', status: 200, error: undefined, isServerError: false }
const METHOD = 'temporal.api.workflowservice.v1.WorkflowService/DescribeWorkflowExecution'
const request = new Request('http://127.0.0.1:3001/workflow/order-17/status')

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
const measured: Record<string, Part> = {
  nothing: { act: async () => null, flush },
  off: off(),
  metrics: metrics(),
  'spans, none sampled': spansWith(0),
  'spans, 10 % sampled': spansWith(0.1),
  'all spans': spansWith(1),
  'all spans, as JSON': spansWith(1, new JsonExporter()),
  'SDK alone, two empty spans': emptySpans(),
}
// Otherwise `off` would find a tracer. The spans keep theirs.
trace.disable()

const costs = new Map(Object.keys(measured).map((name) => [name, [] as number[]]))
for (let round = 0; round < ROUNDS; round++)
  for (const [name, part] of Object.entries(measured)) costs.get(name)?.push(await costOf(part))
const [nothing = 0, ...others] = [...costs.values()].map(medianOfLater)
const names = [...costs.keys()].slice(1)
console.log(JSON.stringify(Object.fromEntries(others.map((cost, index) => [names[index], cost - nothing]))))
// The exporters keep their connections open.
process.exit()

/** The cost of the hooks without metrics and without a tracer. */
function off(): Part {
  const transport = { features: {}, close() {}, call: async () => ({}) } as unknown as Transport
  const { signal } = new AbortController()
  const tracer = hostTracer()
  const traced = observedTransport(transport, { tracer, metrics: null })
  return {
    act() {
      tracer.startRequest(request)
      return traced.call('describeWorkflowExecution', {}, { deadlineAt: 0, signal })
    },
    flush,
  }
}

function metrics(): Part {
  const counted = createMetrics({ version: '0', runtime: 'node', transport: 'grpc' })
  const call = { method: 'DescribeWorkflowExecution', isPoll: false }
  return {
    async act() {
      counted.requestStarted('GET')
      counted.inFlightChanged(1)
      counted.callStarted(call)
      counted.callEnded(call, 'OK', 3)
      counted.inFlightChanged(-1)
      counted.requestEnded({ ...ENDED, ms: 4 })
    },
    flush,
  }
}

function spansWith(share: number, exporter = new ProtobufExporter()): Part {
  const provider = install(share, exporter)
  const spans = createSpans()
  return {
    async act() {
      const span = await spans.startRequest(request)
      await span.run(() => spans.call(METHOD, async () => {}, String))
      span.end(ENDED)
    },
    flush: () => provider.forceFlush(),
  }
}

/** The lower bound for any service that uses the SDK. */
function emptySpans(): Part {
  const provider = install(1, new ProtobufExporter())
  const tracer = trace.getTracer('portico')
  return {
    async act() {
      const active = context.active()
      const server = tracer.startSpan('server', { kind: SpanKind.SERVER }, active)
      tracer.startSpan('client', { kind: SpanKind.CLIENT }, trace.setSpan(active, server)).end()
      server.end()
    },
    flush: () => provider.forceFlush(),
  }
}

function install(share: number, exporter: ProtobufExporter): BasicTracerProvider {
  trace.disable()
  const provider = new BasicTracerProvider({
    sampler: new TraceIdRatioBasedSampler(share),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  trace.setGlobalTracerProvider(provider)
  return provider
}

/** In microseconds. */
async function costOf({ act, flush }: Part): Promise<number> {
  const before = process.cpuUsage()
  for (let time = 1; time <= TIMES; time++) {
    await act()
    if (time % FLUSH_EVERY === 0) await flush()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / TIMES
}

/** Without the first third, in which the runtime compiles. */
function medianOfLater(values: number[]): number {
  return median(values.slice(ROUNDS / 3))
}

function flush(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
