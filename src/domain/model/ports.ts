import type { Limiter } from '../../lib/limiter.ts'
import type { KnownRuns } from '../admission/known-runs.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import type { SearchAttributes } from '../inspect/search-attributes.ts'
import type { Links } from '../links/links.ts'
import type { Deployment } from './deployment.ts'
import type { Engine } from './engine.ts'
import type { TraceSource } from './trace-source.ts'

/** What the verbs work with. Each verb picks the ports that it uses. */
export interface Ports {
  engine: Engine
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
  /** Limits the reads before a 408: thousands of waits may time out together, or at shutdown. Default: no limit. */
  limitLastReads?: Limiter
  /**
   * `engine.describe`, shared by requests that need it at the same time. Use it only to find the run to begin with: if
   * that run has ended since, its next run is found from it. Default: each request has its own.
   */
  describeShared?: Engine['describe']
  /** The clock; default `Date.now`. */
  now?: () => number
}
