import { bind } from '../lib/bind.ts'
import type { CacheOptions } from '../lib/cache.ts'
import { createLimiter } from '../lib/limiter.ts'
import type { Defaults } from './access/grant.ts'
import { guarded } from './access/guard.ts'
import { createKnownRuns, rememberStarts } from './admission/known-runs.ts'
import { readCatalog } from './catalog/catalogs.ts'
import { reset, stop, terminate } from './control/control.ts'
import { pause, unpause } from './control/pause.ts'
import { completeActivity, failActivity, heartbeatActivity } from './control/report-activity.ts'
import { explain } from './explain/explain.ts'
import { keepClosedRuns } from './inspect/closed-runs.ts'
import { followHistory } from './inspect/follow-history.ts'
import { readHistory } from './inspect/history.ts'
import { countRuns, listRuns } from './inspect/list-runs.ts'
import { withOutputChecks } from './inspect/output-checks.ts'
import { createSearchAttributes } from './inspect/search-attributes.ts'
import { readInput, readStatus } from './inspect/status.ts'
import { createLink } from './links/create-link.ts'
import { createLinks, type Links } from './links/links.ts'
import { readLink, useLink } from './links/use-link.ts'
import { query, readUpdate, signal, startUpdate, update } from './message/messages.ts'
import { TIMEOUT_MS } from './model/deadlines.ts'
import { toKey } from './model/execution.ts'
import type { Ports } from './model/ports.ts'
import { shareCalls } from './model/share-calls.ts'
import type { Workflows } from './model/workflows.ts'
import { signalWithStart } from './start/signal-with-start.ts'
import { run, start, validate } from './start/start.ts'
import { updateWithStart } from './start/update-with-start.ts'
import { createCapabilities } from './status/capabilities.ts'
import { createReadiness } from './status/readiness.ts'
import { followStream } from './stream/follow-stream.ts'
import { publish } from './stream/publish.ts'
import { readStream } from './stream/read-stream.ts'
import { readTrace } from './trace/read-trace.ts'
import { createReadChain } from './wait/read-chain.ts'
import { result } from './wait/result.ts'

export interface WorkflowsOptions
  extends Omit<Ports, 'knownRuns' | 'links' | 'now' | 'searchAttributes'>,
    Omit<CacheOptions, 'now'> {
  /** The catalog and the namespace of requests and rules that do not name one. */
  defaults: Defaults
  /** Default: links are not enabled. */
  links?: Links
  /** Limit on the memory for results of closed runs; 0 keeps none. */
  resultCacheBytes: number
  /** Whether to warn of outputs that do not match their published schema. Default: false. */
  checksOutputs?: boolean
}

// So many calls fit on one connection, and an engine answers thousands per second in this way.
const LAST_READS_AT_ONCE = 100

/** The verbs of the service, over their ports. */
export function createWorkflows(options: WorkflowsOptions): Workflows {
  const { sharesPending = true, onCacheRead, resultCacheBytes, checksOutputs = false, defaults, ...given } = options
  const engine = keepClosedRuns(given.engine, { maxBytes: resultCacheBytes, sharesPending, onCacheRead })
  const describeShared = shareCalls({ sharesPending, timeoutMs: TIMEOUT_MS.describe }, (key: string, call) =>
    engine.describe(JSON.parse(key), call),
  )
  const knownRuns = createKnownRuns({ engine, sharesPending, onCacheRead })
  const searchAttributes = createSearchAttributes({ engine, sharesPending, onCacheRead })
  const ports: Ports = {
    ...given,
    engine: rememberStarts(engine, knownRuns),
    knownRuns,
    searchAttributes,
    links: given.links ?? noLinks(defaults),
    describeShared: (ref, call) => describeShared(toKey(ref), call),
    ...(sharesPending && { limitLastReads: createLimiter(LAST_READS_AT_ONCE) }),
  }
  const workflows: Workflows = {
    ...bind(ports, {
      start,
      run,
      validate,
      signalWithStart,
      updateWithStart,
      status: readStatus,
      explain,
      result,
      list: listRuns,
      count: countRuns,
      input: readInput,
      history: readHistory,
      followHistory,
      followStream,
      readStream,
      publish,
      signal,
      query,
      update,
      startUpdate,
      readUpdate,
      createLink,
      readLink,
      useLink,
      stop,
      terminate,
      pause,
      unpause,
      reset,
      completeActivity,
      failActivity,
      heartbeatActivity,
      catalog: readCatalog,
      startable: readCatalog,
      trace: readTrace,
    }),
    // Nothing to do: `guarded` decides before it calls this.
    async checkRead() {},
    readChain: createReadChain({ ...ports, sharesPending }),
    capabilities: createCapabilities({ ...ports, sharesPending, onCacheRead }),
    ready: createReadiness({ engine: ports.engine, sharesPending, onCacheRead }),
  }
  const checked = checksOutputs ? withOutputChecks(workflows, ports) : workflows
  return guarded(checked, { ...ports, namespace: ports.catalogs.namespace, defaults })
}

function noLinks(defaults: Defaults): Links {
  return createLinks({ keys: null, publicUrl: null, namespaces: [], defaults, findRule: () => undefined })
}
