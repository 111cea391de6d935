import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

const LOOPBACK = '127.0.0.1'

/** Ports of the loopback address that the system says are free: different ones, each free until somebody else asks. */
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

/** Whether somebody listens there already. */
export async function isTaken(port: number, host?: string): Promise<boolean> {
  return (await listenFault(port, host)) === 'EADDRINUSE'
}

/** The system's code for why nobody can listen there, e.g. `EADDRINUSE`; null when one can. */
export async function listenFault(port: number, host: string = LOOPBACK): Promise<string | null> {
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
