import type { EngineFeatures } from '../model/engine.ts'
import { ServiceError } from '../model/errors.ts'
import type { StartCommand } from '../model/workflows.ts'

/** Throws `NotSupportedError` for an id that cannot be sent to the engine, before any call is made. */
export function assertSupportedId(
  { slashInIds }: Pick<EngineFeatures, 'slashInIds'>,
  { workflowId = '' }: StartCommand,
): void {
  if (slashInIds.supported || !workflowId.includes('/')) return
  throw new ServiceError(
    'NotSupportedError',
    `Workflow id "${workflowId}" is not supported: ${slashInIds.reason} (GET /capabilities: slashInIds)`,
    { details: { workflowId } },
  )
}
