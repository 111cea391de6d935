/** `npm run start:deno`, and Deno Deploy: the service on Deno. */

import { withoutStack } from '../../log.ts'
import { sleep } from '../../shared/lib/abort.ts'
import { type Listener, type ListenOptions, type Process, runService } from './service.ts'

/** The part of Deno's API that we use: https://docs.deno.com/api/deno */
declare const Deno: {
  env: { toObject(): Record<string, string> }
  addSignalListener: Process['on']
  exit: Process['exit']
  serve(
    options: { hostname: string; port: number; onListen(): void },
    handler: (request: Request) => Promise<Response>,
  ): Server
}

interface Server {
  addr: { hostname: string; port: number }
  finished: Promise<void>
  shutdown(): Promise<void>
}

// Time for the last responses to reach their clients after they are complete for us.
const FLUSH_MS = 1000

const RETRY_LISTEN_MS = 100

const POLL_MS = 20

const env = Deno.env.toObject()
await runService({
  runtime: 'deno',
  process: { env, on: Deno.addSignalListener, exit: Deno.exit },
  listen,
  // On Deno Deploy a loopback address does not keep other machines out.
  binds: env.DENO_DEPLOYMENT_ID === undefined,
})

async function listen({ fetch, openRequests = () => 0, host, port, log }: ListenOptions): Promise<Listener> {
  let closing = false
  let server = serve(port)

  function serve(on: number): Server {
    // Deno's own promise `completed` is not used: it takes a sixth of the time of a small request.
    const listening = Deno.serve({ hostname: host, port: on, onListen() {} }, async (request) => {
      const response = await fetch(request)
      if (closing) response.headers.set('Connection', 'close')
      return response
    })
    // Without free file descriptors Deno stops listening. An unhandled rejection would end the process.
    listening.finished.catch((cause: unknown) => {
      log('error', 'Deno stopped listening; retrying', {
        cause: cause instanceof Error ? withoutStack(cause) : cause,
      })
      void listenAgain(listening.addr.port)
    })
    return listening
  }

  async function listenAgain(on: number): Promise<void> {
    await sleep(RETRY_LISTEN_MS)
    while (!closing) {
      try {
        server = serve(on)
        return log('info', 'listening again')
      } catch {
        // Still no free descriptor; connections will close sooner or later.
        await sleep(RETRY_LISTEN_MS)
      }
    }
  }

  /** Waits for responses only. Deno's own shutdown also waits for clients that never finish a request. */
  async function allResponded(): Promise<void> {
    while (openRequests() > 0) await sleep(POLL_MS)
    await sleep(FLUSH_MS)
  }

  const { hostname, port: bound } = server.addr
  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`,
    close() {
      closing = true
      return Promise.race([server.shutdown(), allResponded()])
    },
  }
}
