import type { temporal } from '@temporalio/proto'
import type { Call } from '../../domain/model/call.ts'
import type { Headers } from '../../domain/model/workflow-options.ts'
import { type Payload, toPayload } from '../../temporal/payload.ts'

export interface RequestHeaders {
  /** The engine's form; null without headers. */
  header: ReturnType<typeof toHeader>
  /** For the limit on the size of the request. */
  payloads: Payload[]
}

/** What the request carries to the interceptors of workers. Headers in its body replace those of the HTTP request. */
export function requestHeaders({ traceContext, forwardedHeaders = {} }: Call, headers: Headers = {}): RequestHeaders {
  const trace: [string, unknown][] = traceContext === undefined ? [] : [[TRACE_HEADER, traceContext]]
  const header = toHeader(new Map([...trace, ...Object.entries(forwardedHeaders), ...Object.entries(headers)]))
  return { header, payloads: Object.values(header?.fields ?? {}) }
}

/** Where the OpenTelemetry interceptors of Temporal's SDKs look for a trace context: a JSON object of strings. */
const TRACE_HEADER = '_tracer-data'

/** Temporal headers, as plain JSON: interceptors read them without a codec. Null without any. */
function toHeader(
  values: ReadonlyMap<string, unknown>,
): { fields: Record<string, temporal.api.common.v1.IPayload> } | null {
  if (values.size === 0) return null
  return { fields: Object.fromEntries([...values].map(([name, value]) => [name, toPayload(value)])) }
}
