import { ServiceError } from '../errors.ts'
import type { Features, StartCommand } from '../workflows.ts'

/** Throws for an id that the engine could not be told, before it is asked whether a run of that id may be started. */
export function refuseUnreachableId(
  { slashInIds }: Pick<Features, 'slashInIds'>,
  { workflowId = '' }: StartCommand,
): void {
  if (slashInIds || !workflowId.includes('/')) return
  throw new ServiceError(
    'NotSupportedError',
    `The engine is reached over its HTTP API, where the id "${workflowId}" has no path for its slash (GET /capabilities: slashInIds)`,
    { details: { workflowId } },
  )
}
