/** A workflow id, which names its latest run, or one run of it. */
export type WorkflowRef = string | { workflowId: string; runId?: string }

/** The run that a request is about. */
export interface Target {
  workflowId: string
  /** Undefined for the latest run. */
  runId?: string | undefined
  /** Whether it is about exactly this run; otherwise about the chain that the run belongs to. */
  isPinned: boolean
}

/** An activity without a workflow. */
export interface ActivityTarget extends Omit<Target, 'workflowId'> {
  activityId: string
}

export function toTarget(ref: WorkflowRef): Target {
  const { workflowId, runId } = typeof ref === 'string' ? { workflowId: ref } : ref
  return { workflowId, runId, isPinned: runId !== undefined }
}

/** `/workflow/<id>` or `/activity/<id>`, or the path of one run. */
export function pathOf(target: ActivityTarget | Target): string {
  const { runId, isPinned } = target
  const path =
    'activityId' in target
      ? `/activity/${pathSegment(target.activityId, 'an activity id')}`
      : `/workflow/${pathSegment(target.workflowId, 'a workflow id')}`
  return isPinned && runId !== undefined ? `${path}/runs/${pathSegment(runId, 'a run id')}` : path
}

/** `fetch` resolves `.` and `..`, and an empty segment is another path: each would reach another run or endpoint. */
export function pathSegment(text: string, what: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${JSON.stringify(text)} is not ${what}`)
  return encodeURIComponent(text)
}
