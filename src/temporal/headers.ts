import type { temporal } from '@temporalio/proto'
import { toPayload } from './payload.ts'

/** Where the OpenTelemetry interceptors of Temporal's SDKs look for a trace context: a JSON object of strings. */
export const TRACE_HEADER = '_tracer-data'

/** Temporal headers, as plain JSON: interceptors read them without a codec. Null without any. */
export function toHeader(
  values: ReadonlyMap<string, unknown>,
): { fields: Record<string, temporal.api.common.v1.IPayload> } | null {
  if (values.size === 0) return null
  return { fields: Object.fromEntries([...values].map(([name, value]) => [name, toPayload(value)])) }
}
