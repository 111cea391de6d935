/** What the fault proxy is to gRPC, to Temporal's HTTP API. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import proto from '@temporalio/proto'
import type * as protobuf from 'protobufjs'
import protojson from 'protobufjs/ext/protojson.js'
import { type CallLog, httpOperation } from './call-log.ts'
import type { Answered, Fault, Hung } from './fault-proxy.ts'

export interface HttpFaultProxyOptions {
  /** `path` ends like gRPC's: `…/DescribeWorkflowExecution`. */
  takeFault(path: string, text: string): Fault | null
  hang(call: Hung): void
  calls: CallLog
  noteTraceparent(headers: IncomingHttpHeaders): void
}

export async function startHttpFaultProxy(
  targetUrl: string,
  { takeFault, hang, calls, noteTraceparent }: HttpFaultProxyOptions,
): Promise<{ url: string; stop(): void }> {
  const server = createServer(async (incoming, outgoing) => {
    outgoing.on('error', () => {}) // of a call that was given up
    noteTraceparent(incoming.headers)
    const body = await buffer(incoming).catch(() => null)
    if (body === null) return
    const method = methodOf(incoming)
    const url = decodeURIComponent(incoming.url ?? '')
    if (method !== null) calls.add(httpOperation(method.name, url), (text) => `${url} ${body}`.includes(text), outgoing)
    const fault = method === null ? null : takeFault(`/${method.name}`, `${url} ${body}`)
    const exchange = { targetUrl, incoming, outgoing, body }
    if (fault === null || method === null) forward(exchange)
    else if (fault === 'hang') hang(outgoing)
    else fail(exchange, fault, method)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A request at a proxy, and where it goes. */
export interface Exchange {
  targetUrl: string
  incoming: IncomingMessage
  outgoing: ServerResponse
  body: Buffer
}

function fail(exchange: Exchange, fault: Exclude<Fault, 'hang'>, method: protobuf.Method): void {
  const { outgoing } = exchange
  if (typeof fault === 'object' && 'lost' in fault) lose(exchange, fault.lost)
  else if (typeof fault === 'object' && 'dropped' in fault) void fault.dropped().then(() => outgoing.destroy())
  else commit(outgoing, fault, method)
}

const root = proto as unknown as protobuf.Root

interface Route {
  verb: string
  path: RegExp
  method: protobuf.Method
}

const routes: Route[] = root
  .lookupService('temporal.api.workflowservice.v1.WorkflowService')
  .methodsArray.flatMap((method) =>
    ['get', 'post', 'delete'].flatMap((verb) => {
      const template: unknown = method.options?.[`(google.api.http).${verb}`]
      if (typeof template !== 'string') return []
      method.resolve()
      return [
        { verb: verb.toUpperCase(), path: new RegExp(`^/api/v1${template.replace(/\{[\w.]+\}/g, '[^/]+')}$`), method },
      ]
    }),
  )

function methodOf({ method: verb, url = '' }: IncomingMessage): protobuf.Method | null {
  const path = url.split('?')[0] ?? ''
  return routes.find((route) => route.verb === verb && route.path.test(path))?.method ?? null
}

/** Sends the request on, and its response back. */
export function forward({ targetUrl, incoming, outgoing, body }: Exchange): void {
  const { method, url = '', headers } = incoming
  const { host: _, ...rest } = headers
  const call = request(`${targetUrl}${url}`, { method, headers: rest }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  call.on('error', () => outgoing.destroy())
  outgoing.once('close', () => call.destroy())
  call.end(body)
}

/** Sends the request on. When its response is complete and `until` resolves, the connection ends without it. */
export function lose({ targetUrl, incoming, outgoing, body }: Exchange, until: () => Promise<unknown>): void {
  const { method, url = '', headers } = incoming
  const { host: _, ...rest } = headers
  const call = request(`${targetUrl}${url}`, { method, headers: rest }, (answer) => {
    answer.resume().once('end', async () => {
      await until()
      outgoing.destroy()
    })
  })
  call.on('error', () => outgoing.destroy())
  call.end(body)
}

// As grpc-gateway answers: https://github.com/grpc-ecosystem/grpc-gateway/blob/main/runtime/errors.go
const STATUS = new Map([
  [3, 400],
  [5, 404],
  [6, 409],
  [7, 403],
  [8, 429],
  [12, 501],
  [14, 503],
  [16, 401],
])

function commit(outgoing: ServerResponse, fault: Answered, { resolvedResponseType }: protobuf.Method): void {
  if (fault === 'close' || fault === 'calm') {
    outgoing.destroy()
  } else if ('answer' in fault) {
    const answer = resolvedResponseType?.decode(fault.answer)
    outgoing.end(
      answer === undefined
        ? ''
        : JSON.stringify(resolvedResponseType && protojson.toJson(resolvedResponseType, answer)),
    )
  } else {
    const { code, message } = fault
    const details = fault.details === undefined ? [] : proto.google.rpc.Status.decode(fault.details).details
    outgoing.writeHead(STATUS.get(code) ?? 500)
    outgoing.end(JSON.stringify({ code, message, details: details.map(toJson) }))
  }
}

function toJson({ type_url, value }: { type_url?: string | null; value?: Uint8Array | null }): object {
  const type = root.lookupType(String(type_url).replace(/^.*\//, ''))
  return { '@type': type_url, ...protojson.toJson(type, type.decode(value ?? new Uint8Array())) }
}
