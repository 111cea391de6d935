/** A task queue, with its workflow tasks and its activity tasks. */
export interface TaskQueue {
  taskQueue: string
  workflows: QueuedTasks
  activities: QueuedTasks
}

export interface QueuedTasks {
  /** Workers that have polled in the last five minutes. */
  pollers: number
  lastPolledAt: Date | null
  /** Approximate: tasks that wait for a worker, also those of runs that have ended since. */
  backlog: number
  backlogAgeMs: number
  addedPerSecond: number
  dispatchedPerSecond: number
}
