/** The part of an identity provider that a service needs: a server with its public keys. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWK } from 'jose'

export interface IdentityProvider {
  jwksUrl: string
  /** The public keys that it has now. */
  keys: JWK[]
  /** How it answers. Default: with its keys. */
  respond(response: ServerResponse): void
  /** Answers with its keys. */
  respondKeys(response: ServerResponse): void
  /** The paths of the requests so far. */
  requests: string[]
  stop(): Promise<void>
}

export async function startIdentityProvider(keys: JWK[]): Promise<IdentityProvider> {
  const server = createServer((request, response) => {
    provider.requests.push(request.url ?? '')
    provider.respond(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const respondKeys = (response: ServerResponse) => {
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: provider.keys }))
  }
  const provider: IdentityProvider = {
    jwksUrl: `http://127.0.0.1:${port}/jwks`,
    keys,
    respond: respondKeys,
    respondKeys,
    requests: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return provider
}
