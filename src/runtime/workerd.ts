/** The service as a Cloudflare Worker: its environment are the bindings, and it is assembled once an isolate. */
import './workerd-buffer.ts'
import { createPortico } from '../assemble.ts'
import { ConfigError, type Environment, hidingValues, parseConfig } from '../config.ts'
import { httpApiTransport } from '../engine/transport/http-api.ts'
import { warmHttpMessages } from '../engine/transport/http-messages.ts'
import { jsonLog } from '../log.ts'

type Fetch = (request: Request) => Promise<Response>

warmHttpMessages()

let service: Fetch | undefined

// biome-ignore lint/style/noDefaultExport: what workerd looks for
export default {
  fetch(request: Request, bindings: Readonly<Record<string, unknown>>): Promise<Response> {
    service ??= assemble(textsOf(bindings))
    return service(request)
  },
}

/** Others (null for a variable that is not set, stores, services) are not ours to read. */
function textsOf(bindings: Readonly<Record<string, unknown>>): Environment {
  return Object.fromEntries(Object.entries(bindings).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

function assemble(env: Environment): Fetch {
  try {
    const config = parseConfig(env, { binds: false, isolated: true })
    const { httpUrl, apiKey } = config.engine
    const transport = httpApiTransport({ url: httpUrl ?? '', apiKey })
    const log = jsonLog({ leastLevel: config.logLevel, write: (line) => console.log(line), hide: hidingValues(env) })
    return createPortico({ config, transport, log, runtime: 'workerd', sharesPending: false }).fetch
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    return refuseToServe(error)
  }
}

/** No process can end here: until the bindings are mended every request is told what is wrong, which never shows a value. */
function refuseToServe({ message }: ConfigError): Fetch {
  return async () => {
    const requestId = crypto.randomUUID()
    const body = {
      type: 'urn:portico:error:internal-error',
      title: 'The service is not configured',
      status: 500,
      detail: message,
      error: 'InternalError',
      message,
      source: 'gateway',
      requestId,
    }
    return new Response(JSON.stringify(body), {
      status: 500,
      headers: { 'Content-Type': 'application/problem+json', 'X-Request-Id': requestId },
    })
  }
}
