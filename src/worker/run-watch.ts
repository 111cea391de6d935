import type { InjectedSinks, Logger, LoggerSinks, WorkerOptions } from '@temporalio/worker'

/** What the SDK knows of a run where its workflow code runs. */
export interface WatchedRun {
  workflowId: string
  runId: string
  firstRunId: string
  catalog: string
  namespace: string
  parent: { workflowId: string; runId: string; namespace: string } | null
}

export interface RunWatcher {
  /** `isReplay`: it began earlier, perhaps under another worker. */
  started(run: WatchedRun, isReplay: boolean): void
  /** The engine hears of it next. */
  ended(run: WatchedRun, isReplay: boolean): void
}

// What the SDK (1.24) logs at the beginning and at the end of every run of a workflow.
const STARTED = 'Workflow started'
const ENDED = new Set(['Workflow completed', 'Workflow failed', 'Workflow completed as cancelled', 'Workflow continued as new'])

type Sinks = NonNullable<WorkerOptions['sinks']>
type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error'

/**
 * The sinks of a worker, with one that hears when runs begin and end.
 *
 * It stands where the SDK hands on what workflows log: outside of the sandbox, without a command in any history, and with
 * bundles that were made without us.
 */
export function watchRuns(sinks: Sinks | undefined, logger: () => Logger, watcher: RunWatcher): InjectedSinks<LoggerSinks> {
  const given = (sinks as Partial<InjectedSinks<LoggerSinks>> | undefined)?.defaultWorkerLogger
  const listener = (level: Level): InjectedSinks<LoggerSinks>['defaultWorkerLogger'][Level] => ({
    // Replays too, to see the runs that began under a worker that did not watch.
    callDuringReplay: true,
    fn(info, message, attributes) {
      const isReplay = info.unsafe.isReplayingHistoryEvents
      tell(watcher, info, message, attributes, isReplay)
      if (isReplay && !given?.[level]?.callDuringReplay) return
      if (given?.[level]) return given[level].fn(info, message, attributes)
      logger()[level](message, { sdkComponent: 'workflow', ...attributes })
    },
  })
  return {
    ...sinks,
    defaultWorkerLogger: {
      trace: listener('trace'),
      debug: listener('debug'),
      info: listener('info'),
      warn: listener('warn'),
      error: listener('error'),
    },
  }
}

type Info = Parameters<InjectedSinks<LoggerSinks>['defaultWorkerLogger']['debug']['fn']>[0]

function tell(watcher: RunWatcher, info: Info, message: string, attributes: unknown, isReplay: boolean): void {
  // A user's own line may read the same.
  if (typeof attributes !== 'object' || attributes === null || !('sdkComponent' in attributes) || attributes.sdkComponent !== 'worker')
    return
  if (message === STARTED) watcher.started(toWatched(info), isReplay)
  else if (ENDED.has(message)) watcher.ended(toWatched(info), isReplay)
}

function toWatched({ workflowId, runId, firstExecutionRunId, taskQueue, namespace, parent }: Info): WatchedRun {
  return { workflowId, runId, firstRunId: firstExecutionRunId, catalog: taskQueue, namespace, parent: parent ?? null }
}
