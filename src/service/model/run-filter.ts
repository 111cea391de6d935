import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'

/** Which runs a list or a count contains: those that match every condition. */
export interface RunFilter {
  workflowName?: string
  catalog?: string
  status?: Status
  /** RFC 3339. `…After` includes the time itself, `…Before` does not. */
  startedAfter?: string
  startedBefore?: string
  closedAfter?: string
  closedBefore?: string
  /** Whether the engine lists a problem of the open run: its workflow task has failed again and again. */
  problem?: boolean
  /** Set for runs that are open, also while they are paused. */
  open?: true
  searchAttributes?: Readonly<Record<string, string>>
  /** In the engine's own query language. */
  query?: string
  /** The runs that the caller may see: those that match one of these. Absent: all. */
  visible?: readonly VisibleRuns[]
}

/** Runs whose id and workflow name match patterns of the policy. Absent patterns match everything. */
export interface VisibleRuns {
  ids?: readonly string[] | undefined
  workflows?: readonly string[] | undefined
}

export const SEARCH_ATTRIBUTE_TYPES = ['keyword', 'text', 'int', 'double', 'bool', 'datetime', 'keyword_list'] as const

export type SearchAttributeType = (typeof SEARCH_ATTRIBUTE_TYPES)[number]

/** A search attribute that must have this value. */
export interface AttributeFilter {
  name: string
  type: SearchAttributeType
  value: string
}

/** The filter with the types of its search attributes. */
export interface TypedRunFilter extends Omit<RunFilter, 'searchAttributes'> {
  searchAttributes: readonly AttributeFilter[]
}

/** A run in a list. */
export interface ListedRun extends RunRef {
  workflowName: string
  catalog: string
  status: Status
  startedAt: Date | null
  completedAt: Date | null
  /** As in the filter. */
  problem: boolean
}

/** A run in a list of those that ask something, with its memo field `$asks` as workflow code has written it. */
export interface AskingRun extends Pick<ListedRun, 'catalog' | 'runId' | 'workflowId' | 'workflowName'> {
  asks: unknown
}

export interface RunCount {
  count: number
  /** Empty unless they were requested. */
  groups: StatusCount[]
}

interface StatusCount {
  status: Status
  count: number
}
