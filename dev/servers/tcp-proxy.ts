/** A way to the engine that can be cut and counted, with TLS before it if wanted. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

export interface TcpProxy {
  /** `host:port`, for `ENGINE_ADDRESS`. */
  address: string
  /** Connections that are open now. */
  open(): number
  /** Connections that were refused while it was interrupted. */
  refused(): number
  /** Cuts all connections and refuses new ones. */
  interrupt(): void
  restore(): void
  /** The connections that are open now stay so, and carry nothing any more. */
  silence(): void
  close(): Promise<void>
}

export interface TcpProxyOptions {
  /** What clients meet; the engine itself is reached in plain text. */
  tls?: TlsOptions
  /** What each byte takes there and back together; with `Infinity` none ever arrives. */
  latencyMs?: number
}

export async function startTcpProxy(target: string, { tls, latencyMs = 0 }: TcpProxyOptions = {}): Promise<TcpProxy> {
  const [host, port] = target.split(':')
  /** Each with its connection to the engine. */
  const clients = new Map<Socket, Socket>()
  let refused = 0
  let interrupted = false

  const take = (client: Socket) => {
    client.on('error', () => {}) // cut by us or by its owner
    if (interrupted) {
      refused++
      client.destroy()
      return
    }
    const engine = connect(Number(port), host)
    engine.on('error', () => {})
    engine.once('close', () => client.destroy())
    client.once('close', () => {
      clients.delete(client)
      engine.destroy()
    })
    clients.set(client, engine)
    if (latencyMs === 0) client.pipe(engine).pipe(client)
    else {
      passLater(client, engine, latencyMs / 2)
      passLater(engine, client, latencyMs / 2)
    }
  }
  const interrupt = () => {
    interrupted = true
    for (const client of clients.keys()) client.destroy()
  }

  const server = tls ? createTlsServer(tls, take) : createServer(take)
  server.on('tlsClientError', () => {}) // the client is told
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${addressOf(server.address()).port}`,
    open: () => clients.size,
    refused: () => refused,
    interrupt,
    restore: () => {
      interrupted = false
    },
    silence() {
      // Read on, so that their end is seen.
      for (const socket of [...clients].flat()) socket.unpipe().resume()
    },
    async close() {
      interrupt()
      server.close()
      await once(server, 'close')
    },
  }
}

function passLater(from: Socket, to: Socket, ms: number): void {
  // Timers of one length ring in their order.
  const later = (act: () => void) => Number.isFinite(ms) && setTimeout(act, ms)
  from.on('data', (chunk) => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address !== 'object' || address === null) throw new Error('not listening on a port')
  return address
}
