import type { Status } from '../protocol/execution.ts'
import { WorkflowExecutionStatus as S } from './enums.ts'

const STATUS = new Map<number, Status>([
  [S.RUNNING, 'running'],
  [S.PAUSED, 'paused'],
  [S.COMPLETED, 'completed'],
  [S.FAILED, 'failed'],
  [S.CANCELED, 'canceled'],
  [S.TERMINATED, 'terminated'],
  [S.CONTINUED_AS_NEW, 'continued'],
  [S.TIMED_OUT, 'timed_out'],
])

/** An unknown status, of a newer engine, counts as running. */
export function toStatus(status: number | null | undefined): Status {
  return STATUS.get(status ?? 0) ?? 'running'
}
