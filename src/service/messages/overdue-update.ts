import { type Call, forExplanation } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { Ports } from '../ports.ts'

/**
 * Adds to the error of an update without a key that the workflow has accepted it, so that its result can be read later.
 * Other errors are returned unchanged.
 */
export async function withStage(
  ports: Pick<Ports, 'deployment' | 'engine'>,
  name: string,
  error: unknown,
  call: Call,
): Promise<unknown> {
  if (!hasErrorName(error, 'DeadlineExceededError', 'PayloadCodecError') || !error.details.mayHaveTakenEffect)
    return error
  const stage = await readStage(ports, name, error, call)
  if (stage === null) return error
  const details = { ...error.details, stage }
  const { message, cause } = error
  if (error.error === 'PayloadCodecError') return new ServiceError(error.error, message, { cause, details })
  const accepted = `Workflow ${details.workflowId} has accepted update "${name}", which has not completed in time`
  return new ServiceError(error.error, `${accepted}; its result will be at Location`, { cause, details })
}

async function readStage(
  { engine, deployment }: Pick<Ports, 'deployment' | 'engine'>,
  name: string,
  { error, details: { workflowId, runId, updateId } }: ServiceError,
  call: Call,
): Promise<'accepted' | 'completed' | null> {
  if (workflowId === undefined || runId === undefined || updateId === undefined) return null
  if (!deployment.features.asyncUpdates.supported) return null
  if (error === 'PayloadCodecError') return 'completed'
  try {
    const bounded = forExplanation(call, TIMEOUT_MS.explanation)
    const { stage } = await engine.pollUpdate({ workflowId, runId }, { name, updateId }, 0, bounded)
    return stage === 'admitted' ? null : stage
  } catch (updateUnread) {
    // The response is late already, and carries the update id.
    call.note({ updateUnread })
    return null
  }
}
