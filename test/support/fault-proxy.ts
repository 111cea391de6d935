/** A proxy in front of the engine that can return errors, hang, or disconnect. */
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type Calls, createCallLog, grpcOperation } from './call-log.ts'
import { startHttpFaultProxy } from './http-fault-proxy.ts'

export type Fault =
  /** A gRPC status other than 0. */
  | { code: number; message: string; details?: Uint8Array }
  /** Status 0 with this message. */
  | { answer: Uint8Array }
  /** Nothing is ever answered. */
  | 'hang'
  /** The connection that carries the call ends. */
  | 'close'
  /** The call alone is reset, as proxies do that are at their limit; over HTTP it is `close`. */
  | 'calm'
  /** The engine does it; when this resolves, its answer is lost with the connection. */
  | { lost: () => Promise<unknown> }
  /** The engine never sees it; when this resolves, the connection ends. */
  | { dropped: () => Promise<unknown> }

export interface FaultRule {
  /** Like `DescribeWorkflowExecution`. */
  method: string
  /**
   * Only calls that hold this text, so that tests that run at once do not meet each other's faults: a workflow id, say.
   */
  containing: string
  fault: Fault
  /** How often; for ever when absent. */
  times?: number
}

export interface FaultProxyOptions {
  /** Calls that one connection may carry at once; without, as many as come. */
  maxConcurrentStreams?: number
  /** Called with each gRPC call, before a fault happens to it. The call is held until a promise is fulfilled. */
  onCall?(method: string, message: Buffer, headers: IncomingHttpHeaders): void | Promise<void>
}

/** A call that is never answered. */
export interface Hung {
  closed: boolean
  once(event: 'close', listener: () => void): unknown
}

export interface FaultProxy {
  /** Host and port, for `ENGINE_ADDRESS`. */
  address: string
  /** The same over Temporal's HTTP API, for `ENGINE_HTTP_URL`; null when the engine has none. */
  httpUrl: string | null
  /** Returns how to take the rule back. */
  on(rule: FaultRule): () => void
  /** Calls that hang now, without those whose client has disconnected. */
  hanging(): number
  /** gRPC calls that are open now. */
  open(): number
  /** The `traceparent` of each call that has one. */
  traceparents: string[]
  /** Connections of gRPC that are open now. */
  connections(): number
  calls: Calls
  /**
   * Closes the gRPC connections as Temporal closes idle and old ones: two GOAWAYs, and open calls may finish.
   * Resolves when these connections are closed.
   */
  goAway(): Promise<void>
  stop(): Promise<void>
}

// https://www.rfc-editor.org/rfc/rfc9113#section-6.8:
// what a first GOAWAY names when further streams may be on their way.
const MAX_STREAM_ID = 2 ** 31 - 1

/** Forwards everything to the engine except calls that match a rule. */
export async function startFaultProxy(
  target: string,
  targetHttpUrl: string | null = null,
  { maxConcurrentStreams, onCall }: FaultProxyOptions = {},
): Promise<FaultProxy> {
  const rules: FaultRule[] = []
  const sessions = new Set<ServerHttp2Session>()
  const engine = createEngineSession(target)
  await once(engine.current(), 'connect')

  const hanging = new Set<Hung>()
  const hang = (call: Hung) => {
    if (call.closed) return
    hanging.add(call)
    call.once('close', () => hanging.delete(call))
  }

  const calls = createCallLog()
  const traceparents: string[] = []
  const noteTraceparent = ({ traceparent }: IncomingHttpHeaders) => {
    if (typeof traceparent === 'string') traceparents.push(traceparent)
  }

  let open = 0
  const server = createServer(maxConcurrentStreams === undefined ? {} : { settings: { maxConcurrentStreams } })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => {}) // of a client that has gone
  })
  server.on('stream', async (stream, headers) => {
    stream.on('error', () => {}) // of a call that was given up
    noteTraceparent(headers)
    open++
    stream.once('close', () => open--)
    const message = await bodyOf(stream)
    const path = String(headers[':path'])
    calls.add(grpcOperation(path, message), (text) => message.includes(text), stream)
    await onCall?.(path.slice(path.lastIndexOf('/') + 1), message, headers)
    const fault = takeFault(rules, path, message)
    if (fault === null) forward(engine.current(), stream, headers, message)
    else if (fault === 'hang') hang(stream)
    else if (typeof fault === 'object' && 'lost' in fault) lose(engine.current(), stream, headers, message, fault.lost)
    else if (typeof fault === 'object' && 'dropped' in fault) void fault.dropped().then(() => commit(stream, 'close'))
    else commit(stream, fault)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const http =
    targetHttpUrl === null
      ? null
      : await startHttpFaultProxy(targetHttpUrl, {
          takeFault: (path, text) => takeFault(rules, path, text),
          hang,
          calls,
          noteTraceparent,
        })

  return {
    httpUrl: http?.url ?? null,
    hanging: () => hanging.size,
    open: () => open,
    traceparents,
    connections: () => sessions.size,
    calls,
    async goAway() {
      const closing = [...sessions].filter((session) => !leaving.has(session))
      await Promise.all(closing.map(endInOrder))
    },
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    on(rule) {
      rules.push(rule)
      return () => void rules.splice(0, rules.length, ...rules.filter((other) => other !== rule))
    },
    async stop() {
      for (const session of sessions) session.destroy()
      engine.current().destroy()
      http?.stop()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Connects again after the engine was restarted. */
function createEngineSession(target: string): { current(): ClientHttp2Session } {
  let session = open()
  function open() {
    const opened = connect(`http://${target}`)
    opened.on('error', () => {}) // its calls fail with it
    return opened
  }
  return {
    current() {
      if (session.closed || session.destroyed) session = open()
      return session
    },
  }
}

// Temporal waits 5 s. An idle client on Node's http2 never responds, because it closes at the first GOAWAY.
const PING_TIMEOUT_MS = 200

const leaving = new WeakSet<ServerHttp2Session>()

async function endInOrder(session: ServerHttp2Session): Promise<void> {
  leaving.add(session)
  session.goaway(constants.NGHTTP2_NO_ERROR, MAX_STREAM_ID)
  // The second one, with the last stream that is answered, comes after all calls that were on their way, or in time.
  const timer = setTimeout(() => session.close(), PING_TIMEOUT_MS)
  session.ping(() => session.close())
  await once(session, 'close')
  clearTimeout(timer)
}

async function bodyOf(stream: ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise<void>((resolve) => {
    stream.once('end', resolve)
    stream.once('close', resolve)
  })
  return Buffer.concat(chunks)
}

function takeFault(rules: FaultRule[], path: string, message: Buffer | string): Fault | null {
  const index = rules.findIndex(({ method, containing }) => path.endsWith(`/${method}`) && message.includes(containing))
  const rule = rules[index]
  if (rule === undefined) return null
  if (rule.times !== undefined && --rule.times === 0) rules.splice(index, 1)
  return rule.fault
}

export type Answered = Exclude<Fault, 'hang' | { lost: unknown } | { dropped: unknown }>

function commit(stream: ServerHttp2Stream, fault: Answered): void {
  if (stream.closed) return
  if (fault === 'close') {
    stream.session?.destroy()
    return
  }
  if (fault === 'calm') {
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    return
  }
  const headers = { ':status': 200, 'content-type': 'application/grpc' }
  if ('code' in fault) {
    const details = fault.details && { 'grpc-status-details-bin': Buffer.from(fault.details).toString('base64') }
    // Not encodeURIComponent: no client takes that back.
    stream.respond(
      { ...headers, 'grpc-status': fault.code, 'grpc-message': encodeURI(fault.message), ...details },
      { endStream: true },
    )
    return
  }
  stream.respond(headers, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(framed(fault.answer))
}

/** gRPC's frame: not compressed, four bytes of length. */
function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

function lose(
  engine: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  message: Buffer,
  until: () => Promise<unknown>,
): void {
  const call = engine.request({ ...headers, ':authority': undefined })
  call.on('error', () => {})
  call.once('end', async () => {
    await until()
    stream.session?.destroy()
  })
  call.resume()
  call.end(message)
}

function forward(
  engine: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  message: Buffer,
): void {
  if (stream.closed) return
  const call = engine.request({ ...headers, ':authority': undefined })
  let trailers: IncomingHttpHeaders = {}
  call.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
  call.on('trailers', (received) => {
    trailers = received
  })
  call.on('response', (response, flags) => {
    if (stream.closed) return
    const last = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    stream.respond(response, last ? { endStream: true } : { waitForTrailers: true })
    if (last) return
    stream.once('wantTrailers', () => stream.sendTrailers(trailers))
    call.pipe(stream)
  })
  stream.once('close', () => call.close(constants.NGHTTP2_CANCEL))
  call.end(message)
}
