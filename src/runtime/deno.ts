/** `npm run start:deno`, and Deno Deploy: the service on Deno. */
import { type Listener, type ListenOptions, runService } from './service.ts'

/** What is used of it: https://docs.deno.com/api/deno/~/Deno.serve */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(): void },
    handler: (request: Request) => Promise<Response>,
  ): { addr: { hostname: string; port: number }; shutdown(): Promise<void> }
}

// On Deno Deploy a loopback address says nothing about who calls.
await runService({ runtime: 'deno', listen, binds: process.env.DENO_DEPLOYMENT_ID === undefined })

async function listen({ fetch, host, port }: ListenOptions): Promise<Listener> {
  const server = Deno.serve({ hostname: host, port, onListen() {} }, fetch)
  const { hostname, port: bound } = server.addr
  return { url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`, close: () => server.shutdown() }
}
