/** `portico/otel`: adds OpenTelemetry spans to the trace of the current workflow run. */
import { type Context, type HrTime, type Span as OtSpan, type SpanStatus, trace } from '@opentelemetry/api'
import type { TraceEntry, TraceError } from '../../shared/wire/trace/entry.ts'
import { currentSpanContext, newSpanId, type SpanContext, setParentLookup } from './span.ts'

/** The part of `ReadableSpan` of `@opentelemetry/sdk-trace-base` that is read here. */
export interface OtelSpan {
  readonly name: string
  readonly startTime: HrTime
  readonly endTime: HrTime
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: SpanStatus
  readonly events: readonly { name: string; attributes?: Readonly<Record<string, unknown>> }[]
  spanContext(): { spanId: string }
}

interface Recorded {
  id: string
  parentId: string
  /** The context in which the span started. */
  context: SpanContext
}

/**
 * A `SpanProcessor` for the OpenTelemetry SDK.
 *
 * `new NodeTracerProvider({ spanProcessors: [porticoSpanProcessor()] })`
 *
 * Spans that start inside a traced activity or Nexus operation are added to the trace of its workflow run, with the
 * same nesting; other spans are ignored. The worker's `redact` also applies to their attributes. The processor
 * exports nothing.
 */
export function porticoSpanProcessor() {
  // Spans that have not ended, by OpenTelemetry span id.
  const open = new Map<string, Recorded>()

  /** The parent of a span that starts now: the innermost OpenTelemetry span or `span()`. */
  function parentOf(context: SpanContext, enclosing: OtSpan | undefined): string {
    const recorded = open.get(enclosing?.spanContext().spanId ?? '')
    return recorded?.context.parentId === context.parentId ? recorded.id : context.parentId
  }
  setParentLookup((context) => parentOf(context, trace.getActiveSpan()))

  return {
    onStart(span: OtelSpan, parent: Context): void {
      const context = currentSpanContext()
      if (context === undefined) return
      const recorded = { id: newSpanId(context.run.runId), parentId: parentOf(context, trace.getSpan(parent)), context }
      open.set(span.spanContext().spanId, recorded)
      const attempt = context.attempt === null ? {} : { attributes: { attempt: context.attempt } }
      context.record(context.run, { ...entryOf(span, recorded), at: toMs(span.startTime), phase: 'began', ...attempt })
    },

    onEnd(span: OtelSpan): void {
      const recorded = open.get(span.spanContext().spanId)
      if (recorded === undefined) return
      open.delete(span.spanContext().spanId)
      const { context } = recorded
      const error = errorOf(span)
      context.record(context.run, {
        ...entryOf(span, recorded),
        at: toMs(span.endTime),
        phase: 'ended',
        attributes: span.attributes,
        ...(error !== null && { error }),
      })
    },

    forceFlush: async (): Promise<void> => {},
    async shutdown(): Promise<void> {
      open.clear()
      setParentLookup(undefined)
    },
  }
}

function entryOf(span: OtelSpan, { id, parentId }: Recorded): Pick<TraceEntry, 'id' | 'kind' | 'name' | 'parentId'> {
  return { id, parentId, kind: kindOf(span.attributes), name: span.name }
}

// Semantic conventions: https://opentelemetry.io/docs/specs/semconv/
function kindOf(attributes: OtelSpan['attributes']): string {
  const names = Object.keys(attributes)
  if (names.some((name) => name.startsWith('gen_ai.'))) return 'llm'
  if (names.some((name) => name === 'http.request.method' || name === 'http.method')) return 'http'
  return names.some((name) => name.startsWith('db.')) ? 'db' : 'span'
}

const STATUS_ERROR = 2

function errorOf({ status, events }: OtelSpan): TraceError | null {
  const exception = events.findLast(({ name }) => name === 'exception')?.attributes
  if (exception === undefined && status.code !== STATUS_ERROR) return null
  const { 'exception.type': type = 'Error', 'exception.message': message = status.message ?? '' } = exception ?? {}
  return { name: String(type), message: String(message), cause: null }
}

function toMs([seconds, nanos]: HrTime): number {
  return seconds * 1000 + Math.floor(nanos / 1e6)
}
