/** The service as a Cloudflare Worker. The bindings are its environment. It is created once per isolate. */

import { jsonLog } from '../../log.ts'
import { ConfigError, type Environment, parseConfig, redactValues } from '../../shared/config.ts'
import { httpApiTransport } from '../engine/transport/http/transport.ts'
import { isAssets, readPageFileFrom } from '../fronts/page-assets.ts'
import { problemHeaders, toProblem } from '../http/problem.ts'
import { createPortico } from '../portico.ts'

// workerd detects a disconnect only by writing. Behind the proxy of `wrangler dev` it takes two writes.
const COMMENT_EVERY_MS = 1500

type Fetch = (request: Request) => Promise<Response>
type Bindings = Readonly<Record<string, unknown>>

let service: Fetch | undefined

// biome-ignore lint/style/noDefaultExport: workerd requires it
export default {
  fetch(request: Request, bindings: Bindings): Promise<Response> {
    service ??= createService(bindings)
    return service(request)
  },
}

/**
 * Our bindings as strings; `[vars]` may be numbers and booleans. A binding of ours with another type is an error:
 * otherwise a token could be ignored.
 */
function toEnvironment(bindings: Bindings): Environment {
  const ours = Object.entries(bindings).filter(([name, value]) => /^(?:ENGINE|SERVICE)_/.test(name) && value != null)
  const issues = ours
    .filter(([, value]) => !['string', 'number', 'boolean'].includes(typeof value))
    .map(([name]) => `${name} must be a text binding or a secret`)
  if (issues.length > 0) throw new ConfigError(issues)
  return Object.fromEntries(ours.map(([name, value]) => [name, String(value)]))
}

function createService(bindings: Bindings): Fetch {
  try {
    const env = toEnvironment(bindings)
    const config = parseConfig(env, { binds: false, isolated: true })
    const { httpUrl, apiKey } = config.engine
    const transport = httpApiTransport({ url: httpUrl ?? '', apiKey })
    const log = jsonLog({ minLevel: config.logLevel, write: (line) => console.log(line), redact: redactValues(env) })
    return createPortico({
      config,
      transport,
      log,
      runtime: 'workerd',
      ...(isAssets(bindings.ASSETS) && {
        readDocsFile: readPageFileFrom(bindings.ASSETS, 'docs-page'),
        readConsoleFile: readPageFileFrom(bindings.ASSETS, 'console'),
      }),
      commentEveryMs: COMMENT_EVERY_MS,
    }).fetch
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    return misconfigured(error)
  }
}

/** A Worker cannot exit. If bindings are invalid, every response lists the errors, without the values. */
function misconfigured({ message }: ConfigError): Fetch {
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
      headers: { ...problemHeaders(body), 'X-Request-Id': requestId },
    })
  }
}
