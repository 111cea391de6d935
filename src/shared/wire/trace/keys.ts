/** Names that writers and readers of traces agree on: `docs/protocol.md`. */

/** Type of the standalone activity that archives the runs of a catalog. `archiverId` is its id and its task queue. */
export const ARCHIVER_TYPE = 'portico.archive-traces'

export function archiverId(catalog: string): string {
  return `$traces:${catalog}`
}

/** Redis key of the list with the spans of a run that are not archived yet. */
export function spansKey(namespace: string, runId: string): string {
  return `spans:${encodeURIComponent(namespace)}:${runId}`
}

/** The same without a key-value store: path of a file below `SERVICE_TRACE_LOCAL_DIR`. */
export function spansFile(runId: string): string {
  return `.spans/${runId}.jsonl`
}

/**
 * Where the trace of a run is archived: key of an object below `traces/`,
 * or path of a file below `SERVICE_TRACE_LOCAL_DIR`.
 */
export const TRACE_TEMPLATE = '{namespace}/{runId}.json'

/** Id of an activity's node: spans recorded in the activity have it as their `parentId`. */
export function stepId(runId: string, activityId: string): string {
  return `${runId}:step:${activityId}`
}

/** Id of a Nexus operation's node. `eventId` is the event in the caller's history that schedules it. */
export function nexusId(runId: string, eventId: string): string {
  return `${runId}:nexus:${eventId}`
}
