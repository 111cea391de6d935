/** Any number of concurrent calls, over as many connections as they need. */
import type { CallOptions, Method, Request, Response } from '../transport.ts'
import type { GrpcConnection } from './connection.ts'

// A usual limit of proxies and servers for the streams of one connection. Further calls would have to wait.
const MAX_CALLS = 100

interface Member {
  connection: GrpcConnection
  calls: number
}

/** Adds a connection when all others are full, and keeps it. The next call reopens one that the engine has closed. */
export function grpcPool(connect: () => GrpcConnection): GrpcConnection {
  const members: Member[] = []

  function connectionWithRoom(): Member {
    const found = members.find(({ calls }) => calls < MAX_CALLS)
    if (found !== undefined) return found
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
