/**
 * Finds the tracer that the host of the service has installed: the embedding program, the runtime, or `exportSpans`.
 */

import { lazy } from '../../shared/lib/cache.ts'
import type { RequestSpan, RequestTracer } from '../http/pipeline/observe.ts'
import type { Spans } from './spans.ts'

/** Nothing is loaded until a tracer is installed. */
export interface HostTracer extends RequestTracer {
  /** Null until the first request after the tracer was installed. */
  readonly loadedSpans: Spans | null
}

export function hostTracer(): HostTracer {
  const spans = lazy(
    () => import('./spans.ts'),
    ({ createSpans }) => createSpans(),
  )
  let isMissing = false

  async function load(): Promise<Spans | null> {
    try {
      return await spans.get()
    } catch {
      // The host has a copy of @opentelemetry/api that cannot be resolved from here. Requests are served without spans.
      isMissing = true
      return null
    }
  }

  return {
    startRequest(request) {
      if (spans.current !== undefined) return startSpan(spans.current, request)
      return isMissing || !isTracerInstalled() ? null : load().then((loaded) => loaded && startSpan(loaded, request))
    },
    get loadedSpans() {
      return spans.current ?? null
    },
  }
}

/** Null if the host's tracer throws: the request is served without a span. */
function startSpan(spans: Spans, request: Request): RequestSpan | null {
  try {
    return spans.startRequest(request)
  } catch {
    return null
  }
}

// The global under which every copy of @opentelemetry/api 1.x keeps the installed tracer.
const API = Symbol.for('opentelemetry.js.api.1')

/** Whether a tracer is installed. Does not load @opentelemetry/api. */
export function isTracerInstalled(): boolean {
  const api: { trace?: unknown } | undefined = Reflect.get(globalThis, API)
  return api?.trace !== undefined
}
