/** Any number of concurrent calls, over as many connections as they need. */
import type { CallOptions, Method, Request, Response } from '../transport.ts'
import type { GrpcConnection } from './connection.ts'

// A usual limit of proxies and servers for the streams of one connection. Further calls would have to wait.
const MAX_CALLS = 100

// Enough for 3200 calls. More calls share these connections, and wait for each other if the server limits the streams.
const MAX_CONNECTIONS = 32

interface Member {
  connection: GrpcConnection
  calls: number
}

/**
 * Uses the first connection that is not full, so that the last ones become idle when there are fewer calls. A member
 * stays when its connection is closed, because its next call opens it again.
 */
export function grpcPool(connect: () => GrpcConnection): GrpcConnection {
  const members: Member[] = []

  function connectionWithRoom(): Member {
    const found = members.find(({ calls }) => calls < MAX_CALLS)
    if (found !== undefined) return found
    if (members.length === MAX_CONNECTIONS)
      return members.reduce((least, member) => (member.calls < least.calls ? member : least))
    const added: Member = { connection: connect(), calls: 0 }
    members.push(added)
    return added
  }

  return {
    async send<M extends Method>(method: M, request: Request<M>, options: CallOptions): Promise<Response<M>> {
      const member = connectionWithRoom()
      member.calls++
      try {
        return await member.connection.send(method, request, options)
      } finally {
        member.calls--
      }
    },
    close: async () => void (await Promise.all(members.map(({ connection }) => connection.close()))),
  }
}
