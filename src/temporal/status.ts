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

// The names of the statuses in the engine's visibility store.
const WORDS: Readonly<Record<Status, string>> = {
  running: 'Running',
  paused: 'Paused',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  terminated: 'Terminated',
  continued: 'ContinuedAsNew',
  timed_out: 'TimedOut',
}

const STATUS_BY_WORD = new Map<unknown, Status>(Object.entries(WORDS).map(([status, word]) => [word, status as Status]))

/** The value of `ExecutionStatus` in visibility queries. */
export function toStatusWord(status: Status): string {
  return WORDS[status]
}

/** The status of an `ExecutionStatus`. An unknown one counts as running. */
export function fromStatusWord(word: unknown): Status {
  return STATUS_BY_WORD.get(word) ?? 'running'
}

/** An unknown status, of a newer engine, counts as running. */
export function toStatus(status: number | null | undefined): Status {
  return STATUS.get(status ?? 0) ?? 'running'
}
