/** What an access token can be given. It cannot create further credentials, and is about runs only. */
export const TOKEN_VERBS = [
  'start',
  'read',
  'list',
  'signal',
  'query',
  'update',
  'complete',
  'activity',
  'repair',
  'stop',
  'terminate',
  'pause',
  'reset',
] as const

/** What a rule of a policy can allow. */
export const POLICY_VERBS = [...TOKEN_VERBS, 'delegate', 'link', 'schedule', 'batch', 'metrics'] as const

export type PolicyVerb = (typeof POLICY_VERBS)[number]

/** The verbs that can be narrowed to handlers: `signal:approve`. */
export const POLICY_HANDLER_VERBS = ['signal', 'query', 'update'] as const

/** The verbs that can be narrowed: those to handlers, and the others to types of activities. */
export const POLICY_NARROWED_VERBS = [...POLICY_HANDLER_VERBS, 'complete', 'repair', 'activity'] as const

/** The options of an open run that `repair` can change. */
export const POLICY_RUN_OPTIONS = ['versioningOverride', 'priority'] as const

/** The options of a start request. A test compares them with its fields, which this folder cannot import. */
export const POLICY_START_OPTIONS = [
  'memo',
  'searchAttributes',
  'headers',
  'startDelay',
  'executionTimeout',
  'runTimeout',
  'taskTimeout',
  'retry',
  'cronSchedule',
  'workflowIdConflictPolicy',
  'workflowIdReusePolicy',
  'priority',
  'versioningOverride',
  'summary',
  'details',
] as const

/** The limits that a start of an activity may give. */
export const POLICY_LIMITS = [
  'startToCloseTimeout',
  'scheduleToCloseTimeout',
  'scheduleToStartTimeout',
  'heartbeatTimeout',
] as const

export const POLICY_OPTIONS = [...POLICY_START_OPTIONS, ...POLICY_LIMITS] as const
