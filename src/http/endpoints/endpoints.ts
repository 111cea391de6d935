import { type Endpoint, withPinned } from '../endpoint.ts'
import { activityEndpoints } from './activities.ts'
import { catalogEndpoints } from './catalog.ts'
import { controlEndpoints } from './control.ts'
import { docsEndpoints } from './docs.ts'
import { historyEndpoints } from './history.ts'
import { hookEndpoint } from './hooks.ts'
import { inspectEndpoints } from './inspect.ts'
import { linkEndpoints } from './links.ts'
import { mcpEndpoints } from './mcp.ts'
import { messageEndpoints } from './messages.ts'
import { openApiEndpoint } from './openapi.ts'
import { resultEndpoint } from './result.ts'
import { listEndpoints } from './runs.ts'
import { serviceEndpoints } from './service.ts'
import { startEndpoints } from './start.ts'
import { streamEndpoints } from './stream.ts'
import { tokenEndpoint } from './tokens.ts'
import { withStartEndpoints } from './with-start.ts'

const DECLARED: readonly Endpoint[] = [
  ...startEndpoints,
  ...withStartEndpoints,
  // Before the endpoints of runs, because a workflow id could have these names.
  ...catalogEndpoints,
  ...listEndpoints,
  ...inspectEndpoints,
  resultEndpoint,
  ...historyEndpoints,
  ...streamEndpoints,
  ...messageEndpoints,
  ...activityEndpoints,
  ...controlEndpoints,
  tokenEndpoint,
  ...linkEndpoints,
  openApiEndpoint,
  ...mcpEndpoints,
  hookEndpoint,
  ...serviceEndpoints,
  ...docsEndpoints,
]

/** Every endpoint, with those of pinned runs, in the order in which requests are matched. */
export const ENDPOINTS: readonly Endpoint[] = DECLARED.flatMap(withPinned)
