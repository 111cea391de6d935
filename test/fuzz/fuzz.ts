/** A service with example workflows, fuzzed by its own OpenAPI document. */

import { startServiceProcess } from '../../dev/servers/service.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import * as activities from '../../examples/activities.ts'
import type { EngineServerOptions } from '../../src/cli/dev/servers/engine.ts'
import { UNDISTURBED } from '../support/undisturbed.ts'
import { catalog } from './catalog.ts'
import { endRuns } from './end-runs.ts'
import { runSchemathesis, type SchemathesisOptions } from './schemathesis.ts'

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

function forMinutes(minutes: number): Pick<SchemathesisOptions, 'config' | 'args'> {
  return { config: ['schemathesis.toml'], args: ['--max-time', `${Math.ceil(minutes * 60)}`] }
}

/** Returns what is wrong, each with the request that shows it; nothing if every response is as the document says. */
export async function fuzz({ address, seed, minutes, onLine }: FuzzOptions): Promise<string[]> {
  await using servers = new AsyncDisposableStack()
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
      SERVICE_API_AUTH_TOKEN: TOKEN,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_METRICS_ON: 'true',
      SERVICE_DOCS_ON: 'true',
      // A query waits for a worker that cannot respond, because the code of its workflow fails.
      SERVICE_MESSAGE_TIMEOUT: '1s',
    },
  })
  servers.defer(async () => void (await service.kill()))

  const options = minutes === null ? BRIEFLY : forMinutes(minutes)
  const { passed, output } = await runSchemathesis({ url: service.url, token: TOKEN, seed, onLine, ...options })
  const errors = service.events.filter(({ level }) => level === 'error').map((event) => JSON.stringify(event))
  return passed ? errors : [output, ...errors]
}
