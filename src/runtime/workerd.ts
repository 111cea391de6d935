/** The service as a Cloudflare Worker: its environment are the bindings, and it is assembled once an isolate. */

import { ConfigError, type Environment, parseConfig, redactValues } from '../config.ts'
import { httpApiTransport } from '../engine/transport/http/transport.ts'
import { PROBLEM_TYPE, toProblem } from '../http/problem.ts'
import { jsonLog } from '../log.ts'
import { createPortico } from '../portico.ts'

// workerd notices that a client has closed its connection only when it writes; behind the proxy of `wrangler dev` it takes two writes.
const COMMENT_EVERY_MS = 1500

type Fetch = (request: Request) => Promise<Response>
type Bindings = Readonly<Record<string, unknown>>

let service: Fetch | undefined

// biome-ignore lint/style/noDefaultExport: what workerd looks for
export default {
  fetch(request: Request, bindings: Bindings): Promise<Response> {
    service ??= assemble(bindings)
    return service(request)
  },
}

/** Numbers and flags of `[vars]` are JSON there. What is ours and no text is a fault, lest a token that is set be ignored; other bindings are not ours. */
function textsOf(bindings: Bindings): Environment {
  const ours = Object.entries(bindings).filter(([name, value]) => /^(?:ENGINE|SERVICE)_/.test(name) && value != null)
  const faults = ours
    .filter(([, value]) => !['string', 'number', 'boolean'].includes(typeof value))
    .map(([name]) => `${name} must be bound as text, or as a secret of the Worker`)
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.fromEntries(ours.map(([name, value]) => [name, String(value)]))
}

function assemble(bindings: Bindings): Fetch {
  try {
    const env = textsOf(bindings)
    const config = parseConfig(env, { binds: false, isolated: true })
    const { httpUrl, apiKey } = config.engine
    const transport = httpApiTransport({ url: httpUrl ?? '', apiKey })
    const log = jsonLog({ leastLevel: config.logLevel, write: (line) => console.log(line), hide: redactValues(env) })
    return createPortico({
      config,
      transport,
      log,
      runtime: 'workerd',
      sharesPending: false,
      commentEveryMs: COMMENT_EVERY_MS,
    }).fetch
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
    const body = toProblem({
      status: 500,
      error: 'InternalError',
      title: 'The service is not configured',
      message,
      requestId,
    })
    return new Response(JSON.stringify(body), {
      status: 500,
      headers: { 'Content-Type': PROBLEM_TYPE, 'X-Request-Id': requestId },
    })
  }
}
