import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { beforeEach, describe, expect, test } from 'vitest'
import { hostTracer } from '../../../../src/service/telemetry/observers.ts'
import { createSpans } from '../../../../src/service/telemetry/spans.ts'
import { installTracer } from '../../../support/tracer.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'

const ENDED = { method: 'GET', route: '/ready', status: 200, error: undefined, isServerError: false }

const requestWith = (flags: string, method = 'GET') =>
  new Request('http://portico.test/ready?token=s3cret', {
    method,
    headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-${flags}` },
  })

test('hostTracer: without a tracer there are no spans, and nothing is loaded', () => {
  const tracer = hostTracer()

  expect([tracer.startRequest(requestWith('01')), tracer.loadedSpans]).toEqual([null, null])
})

describe('with a tracer', () => {
  let tracer: ReturnType<typeof installTracer>

  beforeEach(() => {
    tracer = installTracer()
    return tracer.uninstall
  })

  /** A call that returns its headers. */
  const send = async (headers: Record<string, string> | null) => headers

  const finished = () => tracer.exporter.getFinishedSpans()

  test('hostTracer: a tracer that is installed later is noticed by the next request', async () => {
    const host = hostTracer()

    const span = await host.startRequest(requestWith('01'))

    expect([span?.traceId, host.loadedSpans === null]).toEqual([TRACE_ID, false])
  })

  test('hostTracer: if the tracer of the host throws, requests are served without spans', async () => {
    const fail = () => {
      throw new Error('a bug of the host')
    }
    trace.disable()
    trace.setGlobalTracerProvider({
      getTracer: () => ({ startSpan: fail, startActiveSpan: fail }),
    })
    const host = hostTracer()

    const first = await host.startRequest(requestWith('01'))

    expect([first, host.loadedSpans === null, host.startRequest(requestWith('01'))]).toEqual([null, false, null])
  })

  test('startRequest: the span does not have the token of a link (threat 68)', () => {
    const token = 't0ken_-'.repeat(20)
    const urls = [`/base/links/${token}`, `/links/${token}/more`, '/workflow/links/status']

    const spans = createSpans()
    for (const url of urls) spans.startRequest(new Request(`http://portico.test${url}`)).end(ENDED)

    expect(finished().map(({ attributes }) => attributes['url.path'])).toEqual([
      '/base/links/REDACTED',
      '/links/REDACTED/more',
      '/workflow/links/status',
    ])
  })

  test.each(['open', 'ended'])(
    'startRequest: inside an earlier request that is %s, it still continues the trace of its own client',
    (state) => {
      const earlier = createSpans().startRequest(new Request('http://portico.test/health'))
      if (state === 'ended') earlier.end(ENDED)
      // Another service in the same process has other spans.
      const spans = createSpans()

      earlier.run(() => {
        spans.startRequest(requestWith('01')).end(ENDED)
        spans.startRequest(new Request('http://portico.test/other')).end(ENDED)
      })

      const [continued, unrelated] = finished().slice(-2)
      expect(continued).toMatchObject({ kind: SpanKind.SERVER, parentSpanContext: { spanId: PARENT_ID } })
      expect(unrelated?.parentSpanContext).toBeUndefined()
      expect(unrelated?.spanContext().traceId).not.toBe(earlier.traceId)
    },
  )

  test('startRequest: inside a span of the host, that span is the parent and the one of the server', () => {
    const spans = createSpans()

    trace.getTracer('host').startActiveSpan('GET', (active) => {
      spans.startRequest(requestWith('01')).end(ENDED)
      active.end()
    })

    const [ours, active] = finished()
    expect(ours).toMatchObject({ kind: SpanKind.INTERNAL, parentSpanContext: { spanId: active?.spanContext().spanId } })
  })

  test('startRequest: an error of the service is an error of the span; an invented method does not name it (threat 97)', () => {
    const span = createSpans().startRequest(requestWith('01', 'BREW'))

    span.end({ method: 'BREW', route: null, status: 500, error: 'InternalError', isServerError: true })

    expect(finished()[0]).toMatchObject({
      name: 'HTTP',
      status: { code: SpanStatusCode.ERROR },
      attributes: {
        'http.request.method': '_OTHER',
        'http.request.method_original': 'BREW',
        'error.type': 'InternalError',
      },
    })
  })

  test('call: its span ends with the code of the call, below that of the request', async () => {
    const spans = createSpans()
    const request = spans.startRequest(requestWith('01'))
    const fail = () => Promise.reject(new Error('busy'))

    await request.run(() => spans.call('Service/Method', send, String))
    await request.run(() => spans.call('Service/Method', fail, () => 'UNAVAILABLE')).catch(() => {})
    request.end(ENDED)

    expect(finished().map(({ kind, attributes }) => [kind, attributes['rpc.response.status_code']])).toEqual([
      [SpanKind.CLIENT, 'OK'],
      [SpanKind.CLIENT, 'UNAVAILABLE'],
      [SpanKind.SERVER, undefined],
    ])
  })

  test('call: a client that does not sample its trace is heeded, by the engine too', async () => {
    const spans = createSpans()

    const headers = await spans.startRequest(requestWith('00')).run(() => spans.call('Service/Method', send, String))

    expect(headers?.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[\\da-f]{16}-00$`))
    expect(finished()).toEqual([])
  })

  test('call: what a request has begun and not awaited does not belong to it once it has ended', async () => {
    const spans = createSpans()
    const request = spans.startRequest(requestWith('01'))
    const { promise: later, resolve } = Promise.withResolvers<void>()

    const background = request.run(async () => {
      await later
      return spans.call('Service/Method', send, String)
    })
    request.end(ENDED)
    resolve()

    expect([await background, finished().length]).toEqual([null, 1])
  })
})
