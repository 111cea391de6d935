/** What a worker reads of its environment. */
import { catalogFault } from '../protocol/names.ts'
import { type EngineConfig, engineConfig } from './engine.ts'
import { type TracesConfig, tracesConfig } from './traces.ts'
import { type Environment, integer, isOn, readVariables, type Variables, without } from './variables.ts'

export interface WorkerConfig {
  engine: EngineConfig
  /** The task queue; null when unset, which is a fault unless `required`. */
  catalog: string | null
  tuning: TuningConfig
  traces: WorkerTraces
  /** Sentences for the log: variables that have no effect because their names look misspelled. */
  warnings: readonly string[]
}

/** Where a worker's traces go. */
export type WorkerTraces = Pick<TracesConfig, 'local' | 'maxBytes' | 'remote'>

/** Null: the SDK's own default. */
export interface TuningConfig {
  activityExecutions: number | null
  workflowTaskExecutions: number | null
  cachedWorkflows: number | null
  activityPolls: number | null
  workflowTaskPolls: number | null
}

/** Throws one `ConfigError` that lists every fault. `catalogRequired` is false for a worker that is told its task queue in code. */
export function parseWorkerConfig(env: Environment, { catalogRequired }: { catalogRequired: boolean }): WorkerConfig {
  const { value, warnings } = readVariables(env, (variables) => ({
    engine: engineConfig(variables),
    catalog: catalogId(variables, catalogRequired),
    tuning: {
      activityExecutions: variables.read('ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS', integer(1)),
      workflowTaskExecutions: variables.read('ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_EXECUTIONS', integer(1)),
      cachedWorkflows: variables.read('ENGINE_MAX_CACHED_WORKFLOWS', integer(0)),
      activityPolls: variables.read('ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_POLLS', integer(1)),
      // One of them polls the queue, the others the runs that are cached.
      workflowTaskPolls: variables.read('ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS', integer(2)),
    },
    traces: workerTraces(variables),
  }))
  return { ...value, warnings }
}

/** Where a worker's traces go, for who builds a `Worker` without `runWorker`. Throws one `ConfigError` that lists every fault. */
export function parseTracesConfig(env: Environment): WorkerTraces {
  return readVariables(env, workerTraces).value
}

/** The variables that ask for traces: without effect on a worker that is built by hand and not given what they say. */
export function traceSwitchesOn(env: Environment): string[] {
  return ['SERVICE_TRACE_REMOTE_ON', 'SERVICE_TRACE_LOCAL_ON'].filter((name) => isOn(env[name]))
}

function workerTraces(variables: Variables): WorkerTraces {
  const traces = tracesConfig(variables, { isolated: false })
  if (traces.remote !== null && !variables.isSet('SERVICE_STORAGE_BUCKET')) {
    variables.fault(
      'SERVICE_TRACE_REMOTE_ON=true needs SERVICE_STORAGE_BUCKET on a worker: the bucket that traces are written to',
    )
  }
  return traces
}

function catalogId({ read, isSet, fault }: Variables, required: boolean): string | null {
  if (required && !isSet('SERVICE_CATALOG_ID'))
    fault('SERVICE_CATALOG_ID is required: the catalog (task queue) that this worker serves')
  return read('SERVICE_CATALOG_ID', without(catalogFault))
}
