/** A payload codec that changes nothing, as a server: Temporal's remote codec protocol, spoken for real. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CodecServer {
  /** Its endpoint is any path below. */
  url: string
  /** From now on it answers with this status and nothing of use. */
  fail(status: number): void
  close(): Promise<void>
}

export async function startCodec(): Promise<CodecServer> {
  let status = 200
  const server = createServer((request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    request.pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail(next) {
      status = next
    },
    async close() {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
