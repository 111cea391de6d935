/** OpenTelemetry's SDK, configured by its own variables. Loaded only if spans are exported. */
import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type Log, withoutStack } from '../../../log.ts'
import { VERSION } from '../../../version.ts'
import type { OtlpProtocol } from './settings.ts'

export interface SpanExport {
  /** Exports the remaining spans. Rejects when that fails. */
  shutdown(): Promise<void>
}

const WARN_EVERY_MS = 60_000

/** Installs a tracer whose spans are exported in batches. A failed export is logged, at most once a minute. */
export async function exportSpans({ protocol, log }: { protocol: OtlpProtocol; log: Log }): Promise<SpanExport> {
  const warn = atMostOnceEvery(WARN_EVERY_MS, (cause) => log('warn', 'cannot export spans; they are lost', { cause }))
  setGlobalErrorHandler((error) => warn(error instanceof Error ? withoutStack(error) : toError(String(error))))
  const logger = { error: reportTo(warn), warn: reportTo(warn), info() {}, debug() {}, verbose() {} }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })

  const { OTLPTraceExporter } = protocol === 'http/json' ? await import('./json.ts') : await import('./protobuf.ts')
  const provider = new BasicTracerProvider({
    resource: serviceResource(),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(provider)
  return { shutdown: () => provider.shutdown() }
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override the other attributes. */
function serviceResource() {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'portico', 'service.version': VERSION }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }))
}

function reportTo(warn: (cause: Error) => void): (message: string) => void {
  return (message) => warn(toError(message))
}

/** As an error, because the log redacts addresses in the messages of errors. */
function toError(message: string): Error {
  return withoutStack(new Error(message))
}

function atMostOnceEvery<T>(ms: number, act: (value: T) => void): (value: T) => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return (value) => {
    if (performance.now() - lastAt < ms) return
    lastAt = performance.now()
    act(value)
  }
}
