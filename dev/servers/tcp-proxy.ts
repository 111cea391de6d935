/** A TCP proxy that can drop, delay and count connections, optionally with TLS on the client's side. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type SecureContextOptions, type TlsOptions } from 'node:tls'

export interface TcpProxy {
  /** `host:port`, for `ENGINE_ADDRESS`. */
  address: string
  /** Number of open connections. */
  open(): number
  /** Number of connections that were accepted so far. */
  accepted(): number
  /** Number of connections that were rejected after `interrupt`. */
  rejected(): number
  /** Closes all connections and rejects new ones until `restore`. */
  interrupt(): void
  restore(): void
  /** New connections are to another target, `host:port`. Open ones stay. */
  retarget(target: string): void
  /** Closes all connections, and accepts new ones. */
  cut(): void
  /** New connections use these certificates. */
  renew(certificates: SecureContextOptions): void
  /** Open connections stay open, but no longer transfer any data. */
  silence(): void
  /** The next response is lost, with its connection, unless it responds to the preflight of a browser. */
  loseNextResponse(): void
  close(): Promise<void>
}

export interface TcpProxyOptions {
  /** Where it listens. Default: a free port of 127.0.0.1. */
  host?: string
  port?: number
  /** For connections from clients. The connection to the target is not encrypted. */
  tls?: TlsOptions
  /** Added to each round trip. With `Infinity` no data arrives. */
  latencyMs?: number
  /** Each connection is closed after this time, as some proxies limit a request. */
  maxConnectionMs?: number
  /** A connection without data in either direction is closed after this time. */
  maxIdleMs?: number
  /** Called with what clients send, and the target that gets it. */
  onData?: (data: Buffer, target: string) => void
}

const PREFLIGHT = Buffer.from('OPTIONS ')

export async function startTcpProxy(target: string, options: TcpProxyOptions = {}): Promise<TcpProxy> {
  const { host = '127.0.0.1', port = 0, tls, latencyMs = 0, maxConnectionMs, maxIdleMs, onData } = options
  let [targetHost, targetPort] = target.split(':')
  /** Each client's socket, with its socket to the target. */
  const clients = new Map<Socket, Socket>()
  let accepted = 0
  let rejected = 0
  let interrupted = false
  let losesNext = false

  const accept = (client: Socket) => {
    client.on('error', () => {}) // closed by the proxy or by the client
    if (interrupted) {
      rejected++
      client.destroy()
      return
    }
    accepted++
    const to = `${targetHost}:${targetPort}`
    const engine = connect(Number(targetPort), targetHost)
    engine.on('error', () => {})
    engine.once('close', () => client.destroy())
    const limit = maxConnectionMs === undefined ? undefined : setTimeout(() => client.destroy(), maxConnectionMs)
    if (maxIdleMs !== undefined) client.setTimeout(maxIdleMs, () => client.destroy())
    client.once('close', () => {
      clearTimeout(limit)
      clients.delete(client)
      engine.destroy()
    })
    clients.set(client, engine)
    let isPreflight = false
    client.on('data', (data) => {
      onData?.(data, to)
      isPreflight = data.subarray(0, PREFLIGHT.length).equals(PREFLIGHT)
    })
    engine.on('data', () => {
      if (!losesNext || isPreflight) return
      losesNext = false
      client.destroy()
    })
    if (latencyMs === 0) client.pipe(engine).pipe(client)
    else {
      forwardLater(client, engine, latencyMs / 2)
      forwardLater(engine, client, latencyMs / 2)
    }
  }
  const cut = () => {
    for (const client of clients.keys()) client.destroy()
  }
  const interrupt = () => {
    interrupted = true
    cut()
  }

  const secure = tls && createTlsServer(tls, accept)
  const server = secure ?? createServer(accept)
  server.on('tlsClientError', () => {}) // the client gets the error too
  server.listen(port, host)
  await once(server, 'listening')
  return {
    address: `${host}:${addressOf(server.address()).port}`,
    open: () => clients.size,
    accepted: () => accepted,
    rejected: () => rejected,
    interrupt,
    cut,
    renew: (certificates) => secure?.setSecureContext(certificates),
    restore: () => {
      interrupted = false
    },
    retarget(next) {
      ;[targetHost, targetPort] = next.split(':')
    },
    silence() {
      // Reading continues, so that a close is noticed.
      for (const socket of [...clients].flat()) socket.unpipe().resume()
    },
    loseNextResponse() {
      losesNext = true
    },
    async close() {
      interrupt()
      server.close()
      await once(server, 'close')
    },
  }
}

function forwardLater(from: Socket, to: Socket, ms: number): void {
  // Timers with the same delay fire in order.
  const later = (act: () => void) => Number.isFinite(ms) && setTimeout(act, ms)
  from.on('data', (chunk) => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address !== 'object' || address === null) throw new Error('not listening on a port')
  return address
}
