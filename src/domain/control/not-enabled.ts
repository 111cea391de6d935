import type { RunRef } from '../../protocol/run-ref.ts'
import { ServiceError } from '../model/errors.ts'

/** The error for a pause in a namespace that does not allow it. */
export function notEnabled({ workflowId, runId }: RunRef, cause?: Error): ServiceError {
  const message = 'Pausing is not enabled in this namespace of the workflow engine (GET /capabilities: pause)'
  return new ServiceError('NotSupportedError', message, { cause, details: { workflowId, runId } })
}
