import type { Limiter } from '../shared/lib/limiter.ts'
import type { Catalogs } from './catalog/catalogs.ts'
import type { Links } from './links/links.ts'
import type { Deployment } from './model/deployment.ts'
import type { Engine } from './model/engine.ts'
import type { TraceSource } from './model/trace-source.ts'
import type { SearchAttributes } from './runs/search-attributes.ts'
import type { KnownRuns } from './start/known-runs.ts'
import type { EngineSupport } from './status/engine-support.ts'

/** What the verbs work with. Each verb picks the ports that it uses. */
export interface Ports {
  engine: Engine
  engineSupport: EngineSupport
  catalogs: Catalogs
  knownRuns: KnownRuns
  searchAttributes: SearchAttributes
  links: Links
  /** In the order in which they are read. The last one is the engine's history, which has every run. */
  traceSources: readonly TraceSource[]
  /** Limit for the entries of one trace, as JSON. */
  traceMaxBytes: number
  deployment: Deployment
  /** How long a query or an update may wait for a worker. */
  messageTimeoutMs: number
  /** Limits the reads after a timeout: thousands of waits may end together, as at shutdown. Default: no limit. */
  limitLastReads?: Limiter
  /**
   * `engine.describe`, shared by requests that need it at the same time. Use it only to find the run to begin with: if
   * that run has ended since, its next run is found from it. Default: each request has its own.
   */
  describeShared?: Engine['describe']
  /** Whether to warn of outputs that do not match their published schema. Default: false. */
  checksOutputs?: boolean
  /** The clock; default `Date.now`. */
  now?: () => number
}
