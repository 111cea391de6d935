/** What the client suite, which runs in another process, needs of its test: servers that fail on request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Action, Environment } from '../conformance/client/client-fixture.ts'

export interface ClientTestServerOptions {
  environment: Environment
  proxy: TcpProxy
  /** Closes each connection after two seconds. */
  impatient: TcpProxy
  restart(): Promise<void>
}

export interface ClientTestServer {
  url: string
  /** Resolves with the error of the case, null if it has none, when the case has run. */
  result(name: string, signal: AbortSignal): Promise<string | null>
  /** Forgets the results, before another runtime reports its own. */
  forget(): void
  close(): void
}

export async function startClientTestServer(options: ClientTestServerOptions): Promise<ClientTestServer> {
  const { environment, proxy, impatient, restart } = options
  const results = new Map<string, string | null>()

  const actions = new Map<string, () => unknown>(
    Object.entries({
      async interrupt() {
        const before = proxy.rejected()
        proxy.interrupt()
        await until('a connection is rejected', () => proxy.rejected() > before)
      },
      restore: () => proxy.restore(),
      'lose-response': () => proxy.loseNextResponse(),
      restart,
      async impatient() {
        const before = impatient.accepted()
        await until('three connections follow', () => impatient.accepted() >= before + 3)
      },
    } satisfies Record<Action, () => unknown>),
  )

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, route, name = ''] = (request.url ?? '').split('/')
    if (route === 'environment') return void response.end(JSON.stringify(environment))
    if (route === 'redirect') {
      const location = `${environment.url}${request.url?.slice('/redirect'.length)}`
      return void response.writeHead(307, { Location: location }).end()
    }
    const body = await text(request)
    if (route === 'actions') await actions.get(name)?.()
    if (route === 'results') {
      const { name: of, error } = JSON.parse(body)
      results.set(of, error)
    }
    response.end('{}')
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    result: (name, signal) =>
      until(`the case has run: ${name}`, () => (results.has(name) ? { error: results.get(name) ?? null } : null), {
        timeoutMs: 170_000,
        signal,
      }).then(({ error }) => error),
    forget: () => results.clear(),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
