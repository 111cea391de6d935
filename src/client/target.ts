import type { WorkflowRef } from './client.ts'

/** The run that a request is about. */
export interface Target {
  workflowId: string
  /** Undefined for the latest run. */
  runId?: string | undefined
  /** Whether it is about exactly this run; otherwise about the chain that the run belongs to. */
  isPinned: boolean
}

export function toTarget(ref: WorkflowRef): Target {
  const { workflowId, runId } = typeof ref === 'string' ? { workflowId: ref } : ref
  return { workflowId, runId, isPinned: runId !== undefined }
}

/** `/workflow/<id>`, or the path of one run. */
export function pathOf({ workflowId, runId, isPinned }: Target): string {
  const path = `/workflow/${encodeURIComponent(workflowId)}`
  return isPinned && runId !== undefined ? `${path}/runs/${encodeURIComponent(runId)}` : path
}
