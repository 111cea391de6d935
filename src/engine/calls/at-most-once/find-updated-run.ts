/** Which run has received an update whose response was lost. A run knows the update by its id. */
import { atMost, type Call } from '../../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../../domain/model/deadlines.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import type { HistoryEvent } from '../../../temporal/outcome.ts'
import { toEpochMs } from '../../../temporal/time.ts'
import { type EngineContext, IDENTITY, toExecution } from '../../context.ts'
import { isGoneOrClosed } from '../../errors.ts'
import { readEnd } from '../history-pages.ts'
import { toLookupError } from './find-run.ts'
import { findPreviousRunId } from './previous-run.ts'

export interface SentUpdate {
  updateId: string
  /** A time before the first attempt, by the engine's clock (epoch milliseconds). */
  sentAfter: number
}

/** The latest run or the one before it, whichever has the update; null if neither has. */
export async function findUpdatedRun(
  context: EngineContext,
  latest: RunRef,
  update: SentUpdate,
  call: Call,
): Promise<string | null> {
  if (await hasUpdate(context, latest, update, call)) return latest.runId
  const runId = await findPreviousRunId(context, latest, call)
  if (runId === null) return null
  const { workflowId } = latest
  return (await hasUpdate(context, { workflowId, runId }, update, call)) ? runId : null
}

/** Whether the run has received the update. Over the HTTP API: whether it has accepted it. */
export async function hasUpdate(context: EngineContext, run: RunRef, update: SentUpdate, call: Call): Promise<boolean> {
  const bounded = atMost(call, TIMEOUT_MS.describe)
  try {
    return context.features.asyncUpdates.supported
      ? await isKnown(context, run, update.updateId, bounded)
      : await isInHistory(context, run, update, bounded)
  } catch (error) {
    if (isGoneOrClosed(error)) return false
    throw toLookupError(error, { workflowId: run.workflowId, updateId: update.updateId })
  }
}

/** Rejects with the error for unknown runs if it is not. */
async function isKnown({ rpc, namespace }: EngineContext, run: RunRef, updateId: string, call: Call): Promise<true> {
  const updateRef = { workflowExecution: toExecution(run), updateId }
  await rpc('pollWorkflowExecutionUpdate', { namespace, updateRef, identity: IDENTITY }, call)
  return true
}

async function isInHistory(
  context: EngineContext,
  run: RunRef,
  { updateId, sentAfter }: SentUpdate,
  call: Call,
): Promise<boolean> {
  const isAccepted = ({ workflowExecutionUpdateAcceptedEventAttributes: accepted }: HistoryEvent) =>
    accepted?.protocolInstanceId === updateId
  const isBefore = ({ eventTime }: HistoryEvent) => (toEpochMs(eventTime) ?? sentAfter) < sentAfter
  const events = await readEnd(context, run, call, (event) => isAccepted(event) || isBefore(event))
  return events.some(isAccepted)
}
