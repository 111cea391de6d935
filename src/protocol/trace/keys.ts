/** Names that writers and readers of traces agree on: `docs/protocol.md`. */

/** Type and id of the standalone activity that archives the runs of a catalog; its task queue has the same name. */
export const ARCHIVER_TYPE = 'portico.archive-traces'

export function archiverId(catalog: string): string {
  return `$traces:${catalog}`
}

/** The Redis list with the spans of a run that are not archived yet. */
export function spansKey(namespace: string, runId: string): string {
  return `spans:${encodeURIComponent(namespace)}:${runId}`
}

/** The file with the spans of a run that are not archived yet, below `SERVICE_TRACE_LOCAL_DIR`, where there is no key-value store. */
export function spansFile(runId: string): string {
  return `.spans/${runId}.jsonl`
}

/** The trace of a run: the key of an object below `traces/`, or the path of a file below `SERVICE_TRACE_LOCAL_DIR`. */
export const TRACE_TEMPLATE = '{namespace}/{runId}.json'

/** Id of the node of an activity: what is recorded inside it has this as its `parentId`. */
export function stepId(runId: string, activityId: string): string {
  return `${runId}:step:${activityId}`
}

/** Id of the node of a Nexus operation, which an event of the caller's history schedules. */
export function nexusId(runId: string, eventId: string): string {
  return `${runId}:nexus:${eventId}`
}
