import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

const LOOPBACK = '127.0.0.1'

// Below the ports that Linux, macOS and Windows give to connections and to servers that let them choose: none of them
// takes one of these before the caller listens.
const FIRST_PORT = 20_000
const PORTS = 12_000

// Each process counts up from another port, so that two hardly ever choose the same one at the same time.
let next = Math.floor(Math.random() * PORTS)

/** Different free ports on the loopback address. Another process may take one at any time. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = FIRST_PORT + (next++ % PORTS)
    if (!(await isTaken(port))) ports.push(port)
  }
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
