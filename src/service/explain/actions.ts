import type { AccessRequest } from '../../shared/access/grant.ts'
import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { May } from '../model/commands.ts'
import type { Action, Reason } from '../model/explanation.ts'

type Run = RunRef & { workflowName: string; status: Status }

/** The request that does something about the reason; null if none does, or if the caller may not make it. */
export function actionFor(reason: Reason, run: Run, may: May): Action | null {
  const found = find(reason, run)
  if (found === null) return null
  const { method, path, needs } = found
  return needs === null || may(needs) ? { method, path, body: null } : null
}

/** `path`: below that of the namespace. `needs`: the right, besides that of reading the run. */
type Found = Omit<Action, 'body'> & { needs: AccessRequest | null }

/** Deploying a worker, waiting and terminating are no actions. */
function find(reason: Reason, run: Run): Found | null {
  const { workflowId, workflowName } = run
  switch (reason.kind) {
    case 'closed':
      return reason.status === 'continued'
        ? { method: 'GET', path: `${pathOf({ workflowId })}/explain`, needs: null }
        : { method: 'GET', path: `${pathOf(run)}/result`, needs: null }
    case 'paused':
      return { method: 'POST', path: `${pathOf(run)}/unpause`, needs: { verb: 'pause', workflowId, workflowName } }
    case 'waiting_answer': {
      const path = `${pathOf(run)}/questions/${encodeURIComponent(reason.key)}/answer`
      return { method: 'POST', path, needs: { verb: 'signal', handler: reason.signal, workflowId, workflowName } }
    }
    case 'activity_retrying':
    case 'activity_running': {
      const name = repairOf(reason, run)
      if (name === null) return null
      const path = `${pathOf(run)}/activities/${encodeURIComponent(reason.activityId)}/${name}`
      return { method: 'POST', path, needs: { verb: 'repair', handler: reason.name, workflowId, workflowName } }
    }
    case 'waiting_child': {
      const { childWorkflowId, childRunId: runId, childWorkflowName } = reason
      if (runId === null) return null
      const needs = { verb: 'read', workflowId: childWorkflowId, workflowName: childWorkflowName } as const
      return { method: 'GET', path: `${pathOf({ workflowId: childWorkflowId, runId })}/explain`, needs }
    }
    default:
      return null
  }
}

/** Null for an activity that waits for a worker, is executed, or must wait because its run is paused. */
function repairOf({ state, nextAttemptAt }: Extract<Reason, { activityId: string }>, { status }: Run): string | null {
  if (state === 'paused' || state === 'pause_requested') return 'unpause'
  return nextAttemptAt === null || status === 'paused' ? null : 'retry'
}

function pathOf({ workflowId, runId }: { workflowId: string; runId?: string }): string {
  const ofId = `/workflow/${encodeURIComponent(workflowId)}`
  return runId === undefined ? ofId : `${ofId}/runs/${runId}`
}
