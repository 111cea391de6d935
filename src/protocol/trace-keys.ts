/** Names that whoever writes traces and whoever reads them have agreed on: `docs/protocol.md`. */

/** A root run: one without a parent; `rootRunId` is the first run of its chain. */
export interface RootRun {
  workflowId: string
  rootRunId: string
}

/** The list with the spans made by activities of a run. */
export function spansKey(runId: string): string {
  return `traces:${runId}`
}

/** The outbox: a sorted set of the root runs of a catalog whose traces are not stored yet. */
export function outboxKey(namespace: string, catalog: string): string {
  return `traces:open:${encodeURIComponent(namespace)}:${encodeURIComponent(catalog)}`
}

export function toOutboxMember({ workflowId, rootRunId }: RootRun): string {
  return JSON.stringify([workflowId, rootRunId])
}

/** Null for what is no member of an outbox. */
export function parseOutboxMember(text: string): RootRun | null {
  try {
    const parts: unknown = JSON.parse(text)
    if (!Array.isArray(parts) || parts.length !== 2) return null
    const [workflowId, rootRunId]: unknown[] = parts
    return typeof workflowId === 'string' && typeof rootRunId === 'string' ? { workflowId, rootRunId } : null
  } catch {
    return null // of another maker
  }
}

/** The name of a trace's file, without its folder. */
export const LOCAL_FILE_TEMPLATE = '{workflowId}_{rootRunId}.json'

/** Id of the node of an activity: what is recorded inside it has this as its `parentId`. */
export function stepId(runId: string, activityId: string): string {
  return `${runId}:step:${activityId}`
}
