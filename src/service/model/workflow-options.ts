import type { WorkerVersion } from '../../shared/wire/worker-version.ts'
import type { SearchAttributeType } from './run-filter.ts'

/**
 * How the engine runs a workflow that is started, in the words of the API. Absent options have the engine's defaults.
 */
export interface WorkflowOptions {
  memo?: Readonly<Record<string, unknown>>
  searchAttributes?: Readonly<Record<string, SearchAttributeValue>>
  /** Temporal headers for the interceptors of workers. */
  headers?: Headers
  startDelayMs?: number
  /** For the whole chain of runs. */
  executionTimeoutMs?: number
  /** For each run of the chain. */
  runTimeoutMs?: number
  taskTimeoutMs?: number
  retry?: RetryOptions
  cronSchedule?: string
  workflowIdConflictPolicy?: ConflictPolicy
  workflowIdReusePolicy?: ReusePolicy
  priority?: PriorityOptions
  versioningOverride?: VersioningOverride
  summary?: string
  details?: string
}

/** Temporal headers: JSON values by name. */
export type Headers = Readonly<Record<string, unknown>>

export interface SearchAttributeValue {
  /** Null for the registered type of the attribute. */
  type: SearchAttributeType | null
  value: unknown
}

/** A search attribute as clients write it: a value of the registered type, or a value with its type. */
export type GivenSearchAttribute =
  | string
  | number
  | boolean
  | readonly string[]
  | { type: SearchAttributeType; value: unknown }

export interface RetryOptions {
  initialIntervalMs?: number
  backoffCoefficient?: number
  maximumIntervalMs?: number
  /** 0: unlimited. */
  maximumAttempts?: number
  nonRetryableErrorTypes?: string[]
}

export interface PriorityOptions {
  priorityKey?: number
  fairnessKey?: string
  fairnessWeight?: number
}

export type VersioningOverride = 'auto-upgrade' | { pinned: WorkerVersion }

/** What can be changed of an open run. Null removes the override. */
export interface RunOptionsChange {
  versioningOverride?: VersioningOverride | null
  priority?: PriorityOptions
}

/** Null for what is not set. */
export interface RunOptions {
  /** Another client can set one that ends with the next workflow task: `oneTime`. */
  versioningOverride: VersioningOverride | { oneTime: WorkerVersion } | null
  priority: PriorityOptions | null
}

/** What happens when a run of the workflow id is open. Default: `fail`. */
export const CONFLICT_POLICIES = ['fail', 'use-existing', 'terminate-existing'] as const

export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number]

/** Whether the workflow id of a closed run can be used again. Default: `allow-duplicate`. */
export const REUSE_POLICIES = ['allow-duplicate', 'allow-duplicate-failed-only', 'reject-duplicate'] as const

export type ReusePolicy = (typeof REUSE_POLICIES)[number]
