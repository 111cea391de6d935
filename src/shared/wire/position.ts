/**
 * Places in the events of a run, as clients repeat them: `<run>[@<last>]`, in docs/protocol.md. The run is its id or,
 * where the request may not name the workflow, `<workflow id>/<run id>`.
 */
import { percentDecode, percentEncode } from '../lib/percent-encode.ts'
import { UUID_PATTERN } from './run-ref.ts'

export interface Position {
  workflowId?: string
  runId: string
  /** The offset or the id of the last event that was received; null at the beginning, `end` if nothing follows. */
  last: number | 'end' | null
}

const POSITION = new RegExp(`^(?:([^/@]+)/)?(${UUID_PATTERN})(?:@(\\d{1,15}|end))?$`)

/** Contains only characters that every client can send in a header. */
export function positionId({ workflowId, runId, last }: Position): string {
  const run = workflowId === undefined ? runId : `${percentEncode(workflowId)}/${runId}`
  return last === null ? run : `${run}@${last}`
}

/** The id of the position before the item with this offset, without what the client does not need. */
export function idBefore(runId: string, next: number): string {
  return next === 0 ? runId : `${runId}@${next - 1}`
}

/** The position before the item with this offset. */
export function positionAt(run: Pick<Position, 'runId' | 'workflowId'>, next: number): Position {
  return { ...run, last: next === 0 ? null : next - 1 }
}

/** The offset of the item that follows. */
export function nextOffset({ last }: Position): number {
  return typeof last === 'number' ? last + 1 : 0
}

/** Null if the text is not such an id. */
export function parsePosition(id: string): Position | null {
  const [, encoded, runId, last] = POSITION.exec(id) ?? []
  const workflowId = encoded === undefined ? undefined : percentDecode(encoded)
  if (runId === undefined || workflowId === null) return null
  return {
    ...(workflowId !== undefined && { workflowId }),
    runId: runId.toLowerCase(),
    last: last === undefined ? null : last === 'end' ? last : Number(last),
  }
}

/** Whether the position may be one of this workflow and, if it names one, of this run. */
export function isOf(position: Position, ref: Partial<Pick<Position, 'runId' | 'workflowId'>>): boolean {
  const { workflowId = ref.workflowId, runId } = position
  const isOfWorkflow = ref.workflowId === undefined || workflowId === ref.workflowId
  return isOfWorkflow && (ref.runId === undefined || runId === ref.runId.toLowerCase())
}
