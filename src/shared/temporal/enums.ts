/** The numbers of Temporal's enums that we use. Temporal's own package takes longer to load than all our code. */

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

export const WorkflowIdConflictPolicy = { FAIL: 1, USE_EXISTING: 2, TERMINATE_EXISTING: 3 } as const

export const WorkflowIdReusePolicy = {
  ALLOW_DUPLICATE: 1,
  ALLOW_DUPLICATE_FAILED_ONLY: 2,
  REJECT_DUPLICATE: 3,
} as const

export const ScheduleOverlapPolicy = {
  SKIP: 1,
  BUFFER_ONE: 2,
  BUFFER_ALL: 3,
  CANCEL_OTHER: 4,
  TERMINATE_OTHER: 5,
  ALLOW_ALL: 6,
} as const

export const ActivityIdConflictPolicy = { FAIL: 1, USE_EXISTING: 2 } as const

export const ActivityIdReusePolicy = { ALLOW_DUPLICATE: 1, REJECT_DUPLICATE: 3 } as const

export const ActivityExecutionStatus = { COMPLETED: 2, FAILED: 3, CANCELED: 4, TERMINATED: 5, TIMED_OUT: 6 } as const

export const BatchOperationType = {
  TERMINATE: 1,
  CANCEL: 2,
  SIGNAL: 3,
  TERMINATE_WORKFLOW: 13,
  CANCEL_WORKFLOW: 14,
  SIGNAL_WORKFLOW: 15,
} as const

export const BatchOperationState = { COMPLETED: 2, FAILED: 3 } as const

export const VersioningBehavior = { PINNED: 1 } as const

export const HistoryEventFilterType = { CLOSE_EVENT: 2 } as const

export const EventType = { WORKFLOW_EXECUTION_PAUSED: 58, WORKFLOW_EXECUTION_UNPAUSED: 59 } as const

export const UpdateWorkflowExecutionLifecycleStage = { ACCEPTED: 2, COMPLETED: 3 } as const

export const TaskQueueType = { WORKFLOW: 1, ACTIVITY: 2 } as const

export const PendingWorkflowTaskState = { SCHEDULED: 1 } as const

export const PendingActivityState = {
  SCHEDULED: 1,
  STARTED: 2,
  CANCEL_REQUESTED: 3,
  PAUSED: 4,
  PAUSE_REQUESTED: 5,
} as const

export const IndexedValueType = {
  TEXT: 1,
  KEYWORD: 2,
  INT: 3,
  DOUBLE: 4,
  BOOL: 5,
  DATETIME: 6,
  KEYWORD_LIST: 7,
} as const

export const TimeoutType = { START_TO_CLOSE: 1 } as const

export const WorkflowTaskFailedCause = {
  UNHANDLED_COMMAND: 1,
  RESET_STICKY_TASK_QUEUE: 13,
  WORKFLOW_WORKER_UNHANDLED_FAILURE: 14,
  FORCE_CLOSE_COMMAND: 17,
  FAILOVER_CLOSE_COMMAND: 18,
  RESET_WORKFLOW: 20,
  BAD_BINARY: 21,
  NON_DETERMINISTIC_ERROR: 24,
  UNHANDLED_UPDATE: 31,
  GRPC_MESSAGE_TOO_LARGE: 36,
  PAYLOADS_TOO_LARGE: 37,
  EXTERNAL_STORAGE_FAILURE: 38,
  WORKFLOW_PAUSE_REQUESTED_BEFORE_TASK_STARTED: 39,
  REQUEST_TOO_LARGE: 40,
} as const

export const NexusHandlerErrorRetryBehavior = { RETRYABLE: 1 } as const

export const ResourceExhaustedCause = { BUSY_WORKFLOW: 5 } as const
