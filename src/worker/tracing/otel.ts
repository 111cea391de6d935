/** `portico/otel`: spans of libraries that are instrumented with OpenTelemetry, in the trace of the current run. */
import { type Context, type HrTime, type Span as OtSpan, type SpanStatus, trace } from '@opentelemetry/api'
import type { TraceEntry, TraceError } from '../../protocol/trace/entry.ts'
import { currentSpanContext, newSpanId, type SpanContext, setParentLookup } from './span.ts'

/** What this needs of a span of `@opentelemetry/sdk-trace-base`. */
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
  /** In which it began. */
  context: SpanContext
}

/**
 * A `SpanProcessor` for your OpenTelemetry SDK: `new NodeTracerProvider({ spanProcessors: [porticoSpanProcessor()] })`.
 *
 * Spans that begin inside a traced activity or Nexus operation become nodes of that run's trace, nested as OpenTelemetry
 * nests them; all others are ignored. Attributes pass the worker's `redact`. Exports nothing by itself.
 */
export function porticoSpanProcessor() {
  // Only spans that have not ended are kept.
  const open = new Map<string, Recorded>()

  /** The node below which something that begins now belongs: the innermost of both kinds of spans. */
  function parentOf(context: SpanContext, around: OtSpan | undefined): string {
    const recorded = open.get(around?.spanContext().spanId ?? '')
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

// By the semantic conventions: https://opentelemetry.io/docs/specs/semconv/
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
