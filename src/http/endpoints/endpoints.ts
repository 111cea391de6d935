import { type Endpoint, withPinned } from '../endpoint.ts'
import { catalogs } from './catalog.ts'
import { control } from './control.ts'
import { docs } from './docs.ts'
import { history } from './history.ts'
import { inspect } from './inspect.ts'
import { messages } from './messages.ts'
import { openApi } from './openapi.ts'
import { result } from './result.ts'
import { run } from './run.ts'
import { runs } from './runs.ts'
import { service } from './service.ts'
import { start } from './start.ts'
import { withStart } from './with-start.ts'

const DECLARED: readonly Endpoint[] = [
  run,
  ...start,
  ...withStart,
  // Before those of runs, whose ids could have these names.
  ...catalogs,
  ...runs,
  ...inspect,
  result,
  ...history,
  ...messages,
  ...control,
  openApi,
  ...service,
  ...docs,
]

/** Every endpoint, with those of pinned runs, in the order in which requests are matched. */
export const ENDPOINTS: readonly Endpoint[] = DECLARED.flatMap(withPinned)
