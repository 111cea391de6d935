/**
 * Records the spans that it is sent over OTLP/HTTP, as https://opentelemetry.io/docs/specs/otlp/ describes it. No
 * OpenTelemetry collector can be installed in the tests, so this reads the standard's messages itself.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import protobuf from 'protobufjs'

export interface ReceivedSpan {
  service: string
  traceId: string
  spanId: string
  /** Empty for the first span of a trace. */
  parentSpanId: string
  name: string
  /** `SERVER` is 2, `CLIENT` is 3, `INTERNAL` is 1. */
  kind: number
  /** `ERROR` is 2. */
  statusCode: number
  attributes: Record<string, unknown>
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string
  spans: ReceivedSpan[]
  contentTypes: Set<string>
  /** From now on, no export is answered. */
  hang(): void
  stop(): Promise<void>
}

// The part of https://github.com/open-telemetry/opentelemetry-proto that is read here.
const { root } = protobuf.parse(`syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  repeated KeyValue attributes = 9; Status status = 15;
}
message Status { int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int32 int_value = 3; double double_value = 4; } }
`)
const ExportRequest = root.lookupType('ExportTraceServiceRequest')

interface KeyValue {
  key: string
  value?: { stringValue?: string; boolValue?: boolean; intValue?: number; doubleValue?: number }
}

/** OTLP in JSON: the same names, with ids as hexadecimal digits. */
interface ExportRequestJson {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: {
      spans: {
        traceId: string
        spanId: string
        parentSpanId?: string
        name: string
        kind: number
        attributes: KeyValue[]
        status?: { code?: number }
      }[]
    }[]
  }[]
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const contentTypes = new Set<string>()
  let isHanging = false
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const type = request.headers['content-type'] ?? ''
    contentTypes.add(type)
    if (isHanging) return
    if (request.url === '/v1/traces') spans.push(...spansIn(parse(type, body)))
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': type }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    contentTypes,
    hang() {
      isHanging = true
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function parse(type: string, body: Buffer): ExportRequestJson {
  if (type === 'application/json') return JSON.parse(body.toString())
  if (type !== 'application/x-protobuf') throw new Error(`Unexpected content type ${type}`)
  const request = ExportRequest.toObject(ExportRequest.decode(body), { bytes: String, arrays: true })
  for (const span of request.resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: object[] }[] }) =>
    scopeSpans.flatMap((scope) => scope.spans),
  )) {
    for (const key of ['traceId', 'spanId', 'parentSpanId'])
      span[key] = Buffer.from(span[key] ?? '', 'base64').toString('hex')
  }
  return request as ExportRequestJson
}

function spansIn({ resourceSpans }: ExportRequestJson): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ traceId, spanId, parentSpanId = '', name, kind, attributes, status }) => ({
        service: String(toRecord(resource.attributes)['service.name']),
        traceId,
        spanId,
        parentSpanId,
        name,
        kind,
        statusCode: status?.code ?? 0,
        attributes: toRecord(attributes),
      })),
  )
}

function toRecord(attributes: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value = {} }) => [key, Object.values(value)[0]]))
}
