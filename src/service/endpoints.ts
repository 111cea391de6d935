import { FRONT_ENDPOINTS } from './fronts.ts'
import { type Endpoint, withPinned } from './http/endpoint.ts'
import { activityEndpoints } from './http/endpoints/activities.ts'
import { batchEndpoints } from './http/endpoints/batches.ts'
import { bulkEndpoint } from './http/endpoints/bulk.ts'
import { catalogEndpoints } from './http/endpoints/catalog.ts'
import { controlEndpoints } from './http/endpoints/control.ts'
import { historyEndpoints } from './http/endpoints/history.ts'
import { inspectEndpoints } from './http/endpoints/inspect.ts'
import { messageEndpoints } from './http/endpoints/messages.ts'
import { openApiEndpoint } from './http/endpoints/openapi.ts'
import { questionEndpoints } from './http/endpoints/questions.ts'
import { resultEndpoint } from './http/endpoints/result.ts'
import { listEndpoints } from './http/endpoints/runs.ts'
import { scheduleEndpoints } from './http/endpoints/schedules.ts'
import { serviceEndpoints } from './http/endpoints/service.ts'
import { standaloneEndpoints } from './http/endpoints/standalone-activities.ts'
import { startEndpoints } from './http/endpoints/start.ts'
import { streamEndpoints } from './http/endpoints/stream.ts'
import { tokenEndpoint } from './http/endpoints/tokens.ts'
import { withStartEndpoints } from './http/endpoints/with-start.ts'

const DECLARED: readonly Endpoint[] = [
  ...startEndpoints,
  ...withStartEndpoints,
  bulkEndpoint,
  // Before the endpoints of runs, because a workflow id could have these names.
  ...catalogEndpoints,
  ...listEndpoints,
  ...inspectEndpoints,
  resultEndpoint,
  ...historyEndpoints,
  ...streamEndpoints,
  ...messageEndpoints,
  ...activityEndpoints,
  ...questionEndpoints,
  ...controlEndpoints,
  ...scheduleEndpoints,
  ...standaloneEndpoints,
  ...batchEndpoints,
  tokenEndpoint,
  openApiEndpoint,
  ...serviceEndpoints,
  ...FRONT_ENDPOINTS,
]

/** Every endpoint, with those of pinned runs, in the order in which requests are matched. */
export const ENDPOINTS: readonly Endpoint[] = DECLARED.flatMap(withPinned)
