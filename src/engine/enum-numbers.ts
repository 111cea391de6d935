/** Numbers of Temporal's enums, those that we speak of: its own package takes longer to load than all of ours. */

export const WorkflowExecutionStatus = {
  RUNNING: 1,
  COMPLETED: 2,
  FAILED: 3,
  CANCELED: 4,
  TERMINATED: 5,
  CONTINUED_AS_NEW: 6,
  TIMED_OUT: 7,
  PAUSED: 8,
} as const

export const WorkflowIdConflictPolicy = { USE_EXISTING: 2 } as const

export const VersioningBehavior = { PINNED: 1 } as const

export const HistoryEventFilterType = { CLOSE_EVENT: 2 } as const

export const UpdateWorkflowExecutionLifecycleStage = { COMPLETED: 3 } as const

export const TaskQueueType = { WORKFLOW: 1 } as const

export const ResourceExhaustedCause = { BUSY_WORKFLOW: 5 } as const
