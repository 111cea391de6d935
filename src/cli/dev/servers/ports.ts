import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

const LOOPBACK = '127.0.0.1'

/** Different free ports on the loopback address, chosen by the system. Another process may take one at any time. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0, LOOPBACK)))
  const ports = servers.map(portOf)
  await Promise.all(servers.map(close))
  return ports
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

/** Whether the port is already in use. */
export async function isTaken(port: number, host?: string): Promise<boolean> {
  return (await listenErrorCode(port, host)) === 'EADDRINUSE'
}

/** The system's error code, like `EADDRINUSE`, if it is not possible to listen there; null if it is. */
export async function listenErrorCode(port: number, host: string = LOOPBACK): Promise<string | null> {
  try {
    await close(await listen(port, host))
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

async function listen(port: number, host: string): Promise<Server> {
  const server = createServer()
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

async function close(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
