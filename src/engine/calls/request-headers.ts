import type { Call } from '../../domain/model/call.ts'
import type { Headers } from '../../domain/model/workflow-options.ts'
import { TRACE_HEADER, toHeader } from '../../temporal/headers.ts'
import type { Payload } from '../../temporal/payload.ts'

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
