/** `npm run start:deno`, and Deno Deploy: the service on Deno. */
import { withoutStack } from '../log.ts'
import { pause } from './pause.ts'
import { type Listener, type ListenOptions, type Process, runService } from './service.ts'

/** What is used of it: https://docs.deno.com/api/deno */
declare const Deno: {
  env: { toObject(): Record<string, string> }
  addSignalListener: Process['on']
  exit: Process['exit']
  serve(
    options: { hostname: string; port: number; onListen(): void },
    handler: (request: Request, info: { completed: Promise<void> }) => Promise<Response>,
  ): Server
}

interface Server {
  addr: { hostname: string; port: number }
  finished: Promise<void>
  shutdown(): Promise<void>
}

// An answer that Deno has taken may still be on its way to the client.
const LAST_WORDS_MS = 1000

const LISTEN_AGAIN_MS = 100

const env = Deno.env.toObject()
await runService({
  runtime: 'deno',
  process: { env, on: Deno.addSignalListener, exit: Deno.exit },
  listen,
  // On Deno Deploy a loopback address says nothing about who calls.
  binds: env.DENO_DEPLOYMENT_ID === undefined,
})

async function listen({ fetch, host, port, log }: ListenOptions): Promise<Listener> {
  const unanswered = new Set<Promise<void>>()
  let closing = false
  let server = serve(port)

  function serve(on: number): Server {
    const listening = Deno.serve({ hostname: host, port: on, onListen() {} }, async (request, { completed }) => {
      const answered = completed.catch(() => {}).finally(() => unanswered.delete(answered))
      unanswered.add(answered)
      const response = await fetch(request)
      if (closing) response.headers.set('Connection', 'close')
      return response
    })
    // When no file descriptor is left Deno gives up listening, and who does not look the whole process.
    listening.finished.catch((cause: unknown) => {
      log('error', 'Deno has stopped listening; the service tries to listen again', {
        cause: cause instanceof Error ? withoutStack(cause) : cause,
      })
      void listenAgain(listening.addr.port)
    })
    return listening
  }

  async function listenAgain(on: number): Promise<void> {
    await pause(LISTEN_AGAIN_MS)
    while (!closing) {
      try {
        server = serve(on)
        return log('info', 'listening again')
      } catch {
        // Still no descriptor left: clients let go of theirs sooner or later.
        await pause(LISTEN_AGAIN_MS)
      }
    }
  }

  /** Deno itself waits for connections whose client never ends his request, though it is refused. */
  async function allAnswered(): Promise<void> {
    while (unanswered.size > 0) await Promise.all(unanswered)
    await pause(LAST_WORDS_MS)
  }

  const { hostname, port: bound } = server.addr
  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`,
    close() {
      closing = true
      return Promise.race([server.shutdown(), allAnswered()])
    },
  }
}
