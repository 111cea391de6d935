import type { Logger, Worker, WorkerOptions } from '@temporalio/worker'
import type { WorkerTraces } from '../config/worker.ts'
import type { TraceTemplates } from '../protocol/catalog.ts'
import { stepId } from '../protocol/trace-keys.ts'
import type { Redact } from './redact.ts'
import { watchRuns } from './run-watch.ts'
import { withSpans } from './span.ts'
import { keepTraces, type TraceKeeping } from './trace-keeping.ts'
import { traceTemplates } from './trace-targets.ts'

export interface TracingOptions {
  traces: WorkerTraces
  redact?: Redact | undefined
  logger: () => Logger
}

/** The tracing of one worker. Nothing of it fails or delays what a workflow or an activity does. */
export interface Tracing {
  /** Where its traces go, for the catalog's memo. */
  templates: TraceTemplates
  /** The worker's options, with spans for its activities and an eye on its runs. */
  configure(options: WorkerOptions): WorkerOptions
  /** To be called before the worker takes its first task. */
  start(worker: Worker): void
  /** Sends and stores what there is, within some seconds. */
  stop(): Promise<void>
}

export function createTracing({ traces, redact = (_path, value) => value, logger }: TracingOptions): Tracing {
  const templates = traceTemplates(traces)
  let keeping: TraceKeeping | null = null

  function configure({ interceptors, sinks, ...options }: WorkerOptions): WorkerOptions {
    return {
      ...options,
      sinks: watchRuns(sinks, logger, {
        started: (run, isReplay) => keeping?.started(run, isReplay),
        ended: (run, isReplay) => keeping?.ended(run, isReplay),
      }),
      interceptors: {
        ...interceptors,
        // The first is the outermost: other interceptors may have spans as well.
        activity: [
          ({ info }) => ({ inbound: { execute: (input, next) => traced(info, () => next(input)) } }),
          ...(interceptors?.activity ?? []),
        ],
      },
    }
  }

  function traced<T>({ workflowExecution, activityId }: StepInfo, activity: () => Promise<T>): Promise<T> {
    if (keeping === null || !workflowExecution) return activity()
    const { record } = keeping
    return withSpans({ run: workflowExecution, parentId: stepId(workflowExecution.runId, activityId), record }, activity)
  }

  return {
    templates,
    configure: (options) => (templates === false ? options : configure(options)),
    start(worker) {
      if (templates !== false) keeping = keepTraces({ traces, redact, logger: logger(), worker })
    },
    async stop() {
      await keeping?.stop()
      keeping = null
    },
  }
}

interface StepInfo {
  activityId: string
  /** Absent for an activity that no workflow has started. */
  workflowExecution?: { workflowId: string; runId: string } | undefined
}
