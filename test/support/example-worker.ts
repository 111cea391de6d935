import * as activities from '../../examples/activities.ts'
import { catalog } from '../../examples/catalog.ts'

/** Options of a worker of `examples/`. */
export const EXAMPLE_WORKER = {
  workflowsPath: new URL('../../examples/workflows.ts', import.meta.url),
  activities,
  catalog,
}
