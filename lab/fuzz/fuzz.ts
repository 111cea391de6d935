/** A service with example workflows, fuzzed by its own OpenAPI document. */

import type { EngineServerOptions } from '../../dev/servers/engine.ts'
import { type ServiceProcess, startServiceProcess } from '../../dev/servers/service.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import * as activities from '../../examples/activities.ts'
import type { CatalogDefinition } from '../../src/shared/wire/catalog.ts'
import { openGauges, workAtRest } from '../../test/support/open-gauges.ts'
import { UNDISTURBED } from '../../test/support/undisturbed.ts'
import { catalog } from './catalog.ts'
import { endRuns } from './end-runs.ts'
import { runSchemathesis, type SchemathesisOptions } from './schemathesis.ts'
import { createTenants, TENANT_TOKEN, withHiddenEntry } from './tenants.ts'

export interface FuzzOptions {
  /** `host:port` of an engine that nothing else uses: all its runs are terminated. */
  address: string
  seed: number
  /** Null for what fits into `npm test`. */
  minutes: number | null
  /** Called with each line that Schemathesis prints. */
  onLine?: (line: string) => void
}

/** Of the engine to fuzz on: nothing is rejected for its rate, and runs can be paused. */
export const FUZZED_ENGINE: EngineServerOptions = {
  dynamicConfig: { ...UNDISTURBED, 'frontend.WorkflowPauseEnabled': true },
  searchAttributes: { Customer: 'Keyword' },
}

const CATALOG = 'fuzz'
const TOKEN = 'token-of-the-fuzzer'

// Long enough for a few requests about a run that is open, short enough for one that waits for its end.
const MAX_AGE_MS = 300

const BRIEFLY = { config: ['schemathesis.toml', 'brief.toml'] }

/** Returns what is wrong, each with the request that shows it; nothing if every response is as the document says. */
export async function fuzz(options: FuzzOptions): Promise<string[]> {
  await using servers = new AsyncDisposableStack()
  const service = await startServers(servers, options, catalog, { SERVICE_API_AUTH_TOKEN: TOKEN })
  const { minutes } = options
  const length = minutes === null ? BRIEFLY : { config: ['schemathesis.toml'], args: maxTime(minutes) }
  const failures = await runAgainst(service, options, { token: TOKEN, hooks: 'checks.py', ...length })
  // What the fuzzer has found must not be lost with a service that does not respond.
  const open = await workAtRest(() => openWork(service)).catch((error: unknown) => [`no metrics: ${error}`])
  return [...failures, ...open.map((gauge) => `The fuzzer has left ${gauge}`)]
}

async function openWork({ url }: ServiceProcess): Promise<string[]> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })
  return openGauges(await response.text(), { countScrapes: true })
}

/**
 * The same as a tenant of a policy, while another tenant uses the service.
 * Returns also what a response shows of the other one, and what the fuzzer has done to its runs.
 */
export async function fuzzAsTenant(options: FuzzOptions & { minutes: number }): Promise<string[]> {
  await using servers = new AsyncDisposableStack()
  const tenants = servers.use(await createTenants(options.address, catalog))
  const service = await startServers(servers, options, withHiddenEntry(catalog), tenants.env)
  tenants.begin(service.url)
  const failures = await runAgainst(service, options, {
    token: TENANT_TOKEN,
    hooks: 'tenants.py',
    env: { FUZZ_FOREIGN: tenants.file },
    config: ['schemathesis.toml', 'tenants.toml'],
    args: maxTime(options.minutes),
  })
  return [...failures, ...(await tenants.end())]
}

/** Stopped with `servers`. `env` says who may use the service. */
async function startServers(
  servers: AsyncDisposableStack,
  { address }: FuzzOptions,
  catalog: CatalogDefinition,
  env: Record<string, string>,
): Promise<ServiceProcess> {
  const worker = await startWorker({
    address,
    taskQueue: CATALOG,
    catalog,
    activities,
    workflowsPath: new URL('./workflows.ts', import.meta.url),
    options: { debugMode: true },
  })
  servers.defer(() => worker.stop())
  servers.defer(await endRuns(address, MAX_AGE_MS))
  const service = await startServiceProcess({
    address,
    catalog: CATALOG,
    env: {
      SERVICE_HOST: '127.0.0.1',
      SERVICE_METRICS_ON: 'true',
      SERVICE_DOCS_ON: 'true',
      SERVICE_CONSOLE_ON: 'true',
      // A query waits for a worker that cannot respond, because the code of its workflow fails.
      SERVICE_MESSAGE_TIMEOUT: '1s',
      ...env,
    },
  })
  servers.defer(async () => void (await service.kill()))
  return service
}

async function runAgainst(
  service: ServiceProcess,
  { seed, onLine }: FuzzOptions,
  fuzzer: Omit<SchemathesisOptions, 'url' | 'seed' | 'onLine'>,
): Promise<string[]> {
  const { passed, output } = await runSchemathesis({ url: service.url, seed, onLine, ...fuzzer })
  const errors = service.events.filter(({ level }) => level === 'error').map((event) => JSON.stringify(event))
  return passed ? errors : [output, ...errors]
}

function maxTime(minutes: number): string[] {
  return ['--max-time', `${Math.ceil(minutes * 60)}`]
}
