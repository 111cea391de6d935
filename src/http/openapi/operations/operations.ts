import type { Operation } from '../operation.ts'
import { controlOperations } from './control.ts'
import { inspectOperations } from './inspect.ts'
import { messageOperations } from './message.ts'
import { serviceOperations } from './service.ts'
import { startOperations } from './start.ts'

/** All operations, with those of pinned runs. */
export function allOperations(): Operation[] {
  return [
    ...startOperations,
    ...inspectOperations,
    ...messageOperations,
    ...controlOperations,
    ...serviceOperations,
  ].flatMap((operation) => (operation.path.startsWith(LATEST) ? [operation, pinned(operation)] : [operation]))
}

const LATEST = '/workflow/:id/'

function pinned({ path, id, summary, ...operation }: Operation): Operation {
  return {
    ...operation,
    path: path.replace(LATEST, '/workflow/:id/runs/:rid/'),
    id: id.replace('Workflow', 'Run'),
    summary: `${summary} (of one run)`,
  }
}
