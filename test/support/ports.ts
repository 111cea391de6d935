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

/** Whether somebody listens there already, or we may not. */
export async function isTaken(port: number, host: string = LOOPBACK): Promise<boolean> {
  try {
    await close(await listen(port, host))
    return false
  } catch {
    return true // EADDRINUSE, EACCES
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
