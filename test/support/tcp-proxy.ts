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
  close(): Promise<void>
}

/** `tls`: what clients meet; the engine itself is reached in plain text. */
export async function startTcpProxy(target: string, { tls }: { tls?: TlsOptions } = {}): Promise<TcpProxy> {
  const [host, port] = target.split(':')
  const clients = new Set<Socket>()
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
    clients.add(client)
    client.pipe(engine).pipe(client)
  }
  const interrupt = () => {
    interrupted = true
    for (const client of clients) client.destroy()
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
    async close() {
      interrupt()
      server.close()
      await once(server, 'close')
    },
  }
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address !== 'object' || address === null) throw new Error('not listening on a port')
  return address
}
