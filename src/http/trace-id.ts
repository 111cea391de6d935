const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/

/** The trace that the client's `traceparent` names: https://www.w3.org/TR/trace-context/. Null without a valid one. */
export function traceIdOf(traceparent: string | undefined): string | null {
  return traceparent === undefined ? null : (TRACEPARENT.exec(traceparent)?.[1] ?? null)
}
