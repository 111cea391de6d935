/** The service inside the test's process, in front of the engine of the run. */
import { inject } from 'vitest'
import { readConsoleFile } from '../../src/service/fronts/console/lazy-files.ts'
import { readDocsFile } from '../../src/service/fronts/docs/lazy-files.ts'
import { type PolicyDocument, parsePolicy } from '../../src/shared/config/policy.ts'
import { type Environment, parseConfig, redactValues } from '../../src/shared/config.ts'
// Loaded here, because this takes most of the 4.5 s of a first request while other test files run.
import '../../src/service/engine/engine.ts'
import '../../src/service/engine/transport/grpc/connection.ts'
import { jsonLog } from '../../src/log.ts'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { httpApiTransport } from '../../src/service/engine/transport/http/transport.ts'
import { createPortico } from '../../src/service/portico.ts'
import { watchLines, watchMetrics, withMetrics } from './invariants.ts'
import { checkLines } from './log-leak-recorder.ts'
import { CALLER_HEADERS, withPolicy } from './policy.ts'
import { withUnusedSecrets } from './variables.ts'

export interface Served {
  /** Default catalog, and task queue, of this service. */
  catalog: string
  fetch(request: Request): Promise<Response>
  drain(): void
  close(): Promise<void>
  /** Replaces the policy, as a new version of its file does. */
  setPolicy(policy: PolicyDocument): void
  /** Calls `listen` with each further line of the log. */
  onLine(listen: (line: string) => void): void
}

/** `env` overrides the defaults: no token, and a new catalog. */
export function serve(env: Environment = {}): Served {
  const told = withMetrics(
    withUnusedSecrets(
      withPolicy({
        ENGINE_ADDRESS: inject('engine').address,
        SERVICE_CATALOG_ID: `served-${crypto.randomUUID()}`,
        SERVICE_ALLOW_ANONYMOUS: 'true',
        ...env,
      }),
    ),
  )
  const config = parseConfig(told, { binds: false })
  const listeners: (((line: string) => void) | null)[] = [checkLines(told), watchLines(told)]
  const write = (line: string) => {
    for (const listen of listeners) listen?.(line)
  }
  const log = jsonLog({
    minLevel: told.SERVICE_LOG_LEVEL ? config.logLevel : 'debug',
    write,
    redact: redactValues(told),
  })
  const { address, apiKey, httpUrl } = config.engine
  const isHttp = config.engine.transport === 'http'
  const transport = isHttp
    ? httpApiTransport({ url: httpUrl ?? '', apiKey })
    : grpcTransport({ address, apiKey, tls: null })
  const portico = createPortico({ config, transport, log, runtime: 'node', readDocsFile, readConsoleFile })
  const { fetch, fetchMetrics, drain } = portico
  const [operatorToken] = config.access.tokens ?? []
  const headers = operatorToken === undefined ? CALLER_HEADERS : { Authorization: `Bearer ${operatorToken}` }
  const scrape = () => new Request('http://localhost/metrics', { headers })
  const readMetrics = async () => (await (fetchMetrics ?? fetch)(scrape())).text()
  const unwatch = watchMetrics(`The service of ${config.catalog}`, {
    read: readMetrics,
    countScrapes: fetchMetrics === null,
  })
  const close = () => {
    unwatch()
    return portico.close()
  }
  return {
    catalog: config.catalog,
    fetch,
    drain,
    close,
    setPolicy(policy) {
      const parsed = parsePolicy(policy)
      if ('issues' in parsed) throw new Error(parsed.issues.join('; '))
      portico.setPolicy(parsed.policy)
    },
    onLine: (listen) => void listeners.push(listen),
  }
}
