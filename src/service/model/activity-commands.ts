/** What the verbs on standalone activities take, and what they return. */
import type { CompleteActivityCommand, FailActivityCommand, HeartbeatCommand } from './activity.ts'
import type { Arguments } from './commands.ts'
import type {
  ActivityFilter,
  ActivityLimits,
  ActivityStatus,
  StandaloneRef,
  StandaloneRun,
  StartedActivity,
} from './standalone-activity.ts'
import type { WorkflowOptions } from './workflow-options.ts'

export interface StartActivityCommand extends Arguments {
  /** Generated when absent. */
  activityId?: string
  activityName: string
  catalog: string
  limits: ActivityLimits
  /** The names of those that are no defaults. */
  givenLimits?: readonly string[]
  /** The policies about ids have the names that they have for workflows. */
  options?: WorkflowOptions
  /** The activity is started once for each key. */
  idempotencyKey?: string
  /** Whether the caller may know of an activity of this type. Default: yes. */
  admits?: (activityName: string) => boolean
}

export interface RunActivityCommand extends StartActivityCommand {
  timeoutMs: number
  /** Called once the run is known. */
  onStarted?: (run: ActivityStart) => void
}

/** The outcome of a start. `isRepeated` is set if an earlier request with the same key has started the run. */
export interface ActivityStart extends StartedActivity {
  status: ActivityStatus
  isRepeated?: true
}

export interface OnActivity {
  ref: StandaloneRef
}

export interface ActivityResultCommand extends OnActivity {
  /** Null: do not wait. */
  waitMs: number | null
}

export interface ControlActivityCommand extends OnActivity {
  reason: string | null
}

export interface StoppedActivity extends StandaloneRun {
  cancelRequested: boolean
  status: ActivityStatus
}

/** The same reports as about an activity of a workflow. */
export type OfStandalone<Command extends CompleteActivityCommand | FailActivityCommand | HeartbeatCommand> = Omit<
  Command,
  'activityId' | 'admits' | 'ref' | 'toCatalog'
> &
  OnActivity

export interface ListActivitiesCommand {
  filter: ActivityFilter
  pageSize: number
  pageToken: string | null
}
