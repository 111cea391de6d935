/** The configuration of a worker. */
import { checkedString } from '../wire/checked-string.ts'
import { catalogIssue } from '../wire/names.ts'
import { type EngineConfig, engineConfig } from './engine.ts'
import { type TracesConfig, tracesConfig } from './traces.ts'
import { type Environment, integerVariable, isOn, readVariables, type Variables } from './variables.ts'
import { type ReadFile, type WebhookEndpoint, webhooksConfig } from './webhooks.ts'

export interface WorkerConfig {
  engine: EngineConfig
  /** The task queue; null when unset. */
  catalog: string | null
  tuning: TuningConfig
  traces: WorkerTraces
  webhooks: readonly WebhookEndpoint[]
  /** Sentences for the log, about variables that look misspelled. */
  warnings: readonly string[]
}

/** Where a worker writes its traces. */
export type WorkerTraces = Pick<TracesConfig, 'local' | 'maxBytes' | 'remote'>

/** Null: the SDK's own default. */
export interface TuningConfig {
  activityExecutions: number | null
  workflowTaskExecutions: number | null
  cachedWorkflows: number | null
  activityPolls: number | null
  workflowTaskPolls: number | null
}

/**
 * Throws a `ConfigError` that lists every error.
 * `catalogRequired` is false for a worker whose code names its task queue.
 */
export function parseWorkerConfig(
  env: Environment,
  { catalogRequired, readFile = noFiles }: { catalogRequired: boolean; readFile?: ReadFile },
): WorkerConfig {
  const { value, warnings } = readVariables(env, (variables) => readWorkerConfig(variables, catalogRequired, readFile))
  return { ...value, warnings }
}

/** Every variable of a worker is declared by a call of `variables`. */
export function readWorkerConfig(
  variables: Variables,
  catalogRequired: boolean,
  readFile: ReadFile,
): Omit<WorkerConfig, 'warnings'> {
  return {
    engine: engineConfig(variables),
    catalog: catalogId(variables, catalogRequired),
    tuning: {
      activityExecutions: variables.read('ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS', integerVariable(1)),
      workflowTaskExecutions: variables.read('ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_EXECUTIONS', integerVariable(1)),
      cachedWorkflows: variables.read('ENGINE_MAX_CACHED_WORKFLOWS', integerVariable(0)),
      activityPolls: variables.read('ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_POLLS', integerVariable(1)),
      // One poller is for the task queue, the others for the cached runs.
      workflowTaskPolls: variables.read('ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS', integerVariable(2)),
    },
    traces: workerTraces(variables),
    webhooks: webhooksConfig(variables, readFile),
  }
}

const noFiles: ReadFile = () => ({ error: 'no files are read here' })

/**
 * Where a worker writes its traces, for code that creates its own `Worker`.
 * Throws a `ConfigError` that lists every error.
 */
export function parseTracesConfig(env: Environment): WorkerTraces {
  return readVariables(env, workerTraces).value
}

/**
 * The endpoints of webhooks, for code that creates its own `Worker`.
 * Throws a `ConfigError` that lists every error.
 */
export function parseWebhookEndpoints(env: Environment, readFile: ReadFile): readonly WebhookEndpoint[] {
  return readVariables(env, (variables) => webhooksConfig(variables, readFile)).value
}

/** The variables that configure webhooks. They have no effect on a worker that was created without the endpoints. */
export function webhookSwitches(env: Environment): string[] {
  return ['SERVICE_WEBHOOKS', 'SERVICE_WEBHOOKS_FILE'].filter((name) => Boolean(env[name]))
}

/**
 * The variables that switch traces on. They have no effect on a worker that was created without `parseTracesConfig`.
 */
export function traceSwitchesOn(env: Environment): string[] {
  return ['SERVICE_TRACE_REMOTE_ON', 'SERVICE_TRACE_LOCAL_ON'].filter((name) => isOn(env[name]))
}

function workerTraces(variables: Variables): WorkerTraces {
  const traces = tracesConfig(variables, { isolated: false })
  if (traces.remote !== null && !variables.isSet('SERVICE_STORAGE_BUCKET')) {
    variables.report(
      'SERVICE_TRACE_REMOTE_ON=true requires SERVICE_STORAGE_BUCKET on a worker: the bucket that traces are written to',
    )
  }
  return traces
}

function catalogId({ read, isSet, report }: Variables, required: boolean): string | null {
  if (required && !isSet('SERVICE_CATALOG_ID'))
    report('SERVICE_CATALOG_ID is required: the catalog (task queue) that this worker serves')
  return read('SERVICE_CATALOG_ID', checkedString(catalogIssue))
}
