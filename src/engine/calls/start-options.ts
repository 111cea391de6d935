/** The engine's form of the options of a start. */
import type { temporal } from '@temporalio/proto'
import type { SearchAttributeType } from '../../domain/model/run-filter.ts'
import type {
  ConflictPolicy,
  RetryOptions,
  ReusePolicy,
  SearchAttributeValue,
  VersioningOverride,
  WorkflowOptions,
} from '../../domain/model/workflow-options.ts'
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '../../temporal/enums.ts'
import type { Payload } from '../../temporal/payload.ts'
import { toSearchAttribute } from '../../temporal/search-attributes.ts'
import { toDuration } from '../../temporal/time.ts'

type StartWorkflow = temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest

/** The values of the options that the codec encodes. */
export function encodedValues({ memo = {}, summary, details }: WorkflowOptions): [unknown[], unknown[], unknown[]] {
  const list = (value: unknown) => (value === undefined ? [] : [value])
  return [Object.values(memo), list(summary), list(details)]
}

/** `encoded` are the payloads of `encodedValues`. */
export function toStartOptions(options: WorkflowOptions, encoded: readonly Payload[][]): StartWorkflow {
  const [memo = [], [summary] = [], [details] = []] = encoded
  const { workflowIdConflictPolicy: conflict, workflowIdReusePolicy: reuse, versioningOverride, priority } = options
  const names = Object.keys(options.memo ?? {})
  return withoutUndefined({
    memo:
      names.length === 0 ? undefined : { fields: Object.fromEntries(names.map((name, at) => [name, memo[at] ?? {}])) },
    searchAttributes: options.searchAttributes && toSearchAttributes(options.searchAttributes),
    workflowStartDelay: duration(options.startDelayMs),
    workflowExecutionTimeout: duration(options.executionTimeoutMs),
    workflowRunTimeout: duration(options.runTimeoutMs),
    workflowTaskTimeout: duration(options.taskTimeoutMs),
    retryPolicy: options.retry && toRetryPolicy(options.retry),
    cronSchedule: options.cronSchedule,
    workflowIdConflictPolicy: conflict && CONFLICT[conflict],
    workflowIdReusePolicy: reuse && REUSE[reuse],
    priority,
    versioningOverride: versioningOverride && toVersioningOverride(versioningOverride),
    userMetadata: summary || details ? withoutUndefined({ summary, details }) : undefined,
  })
}

const CONFLICT = {
  fail: WorkflowIdConflictPolicy.FAIL,
  'use-existing': WorkflowIdConflictPolicy.USE_EXISTING,
  'terminate-existing': WorkflowIdConflictPolicy.TERMINATE_EXISTING,
} as const satisfies Record<ConflictPolicy, number>

const REUSE = {
  'allow-duplicate': WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  'allow-duplicate-failed-only': WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
  'reject-duplicate': WorkflowIdReusePolicy.REJECT_DUPLICATE,
} as const satisfies Record<ReusePolicy, number>

/** The engine's names of the types. */
export const TYPE_NAMES = {
  keyword: 'Keyword',
  text: 'Text',
  int: 'Int',
  double: 'Double',
  bool: 'Bool',
  datetime: 'Datetime',
  keyword_list: 'KeywordList',
} as const satisfies Record<SearchAttributeType, string>

function toSearchAttributes(attributes: Readonly<Record<string, SearchAttributeValue>>) {
  const fields = Object.entries(attributes).map(
    ([name, { type, value }]) => [name, toSearchAttribute(type && TYPE_NAMES[type], value)] as const,
  )
  return { indexedFields: Object.fromEntries(fields) }
}

function toRetryPolicy({ initialIntervalMs, maximumIntervalMs, ...policy }: RetryOptions) {
  const intervals = { initialInterval: duration(initialIntervalMs), maximumInterval: duration(maximumIntervalMs) }
  return { ...policy, ...withoutUndefined(intervals) }
}

// PINNED_OVERRIDE_BEHAVIOR_PINNED
const PINNED = 1

function toVersioningOverride(override: VersioningOverride): temporal.api.workflow.v1.IVersioningOverride {
  if (override === 'auto-upgrade') return { autoUpgrade: true }
  return { pinned: { behavior: PINNED, version: override.pinned } }
}

function duration(ms: number | undefined) {
  return ms === undefined ? undefined : toDuration(ms)
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** The engine's types do not allow undefined. */
function withoutUndefined<T extends object>(fields: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
}
