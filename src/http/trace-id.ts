const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/

/** The trace that the client's `traceparent` names: https://www.w3.org/TR/trace-context/. Null without a valid one. */
export function traceIdOf(traceparent: string | undefined): string | null {
  return traceparent === undefined ? null : (TRACEPARENT.exec(traceparent)?.[1] ?? null)
}

/** The trace context of the request, as headers; undefined without a valid `traceparent`. */
export function traceContextOf(headers: Headers): Readonly<Record<string, string>> | undefined {
  const traceparent = headers.get('traceparent')
  if (traceparent === null || traceIdOf(traceparent) === null) return undefined
  const tracestate = headers.get('tracestate')
  return { traceparent, ...(tracestate && { tracestate }) }
}
