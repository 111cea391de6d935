import { TaskQueueType } from '../../../shared/temporal/enums.ts'
import { toDurationMs, toEpochMs } from '../../../shared/temporal/time.ts'
import type { Call } from '../../model/call.ts'
import type { TaskKind } from '../../model/engine.ts'
import type { QueuedTasks, TaskQueue } from '../../model/task-queue.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'
import type { Response } from '../transport/transport.ts'

const TYPES = { workflow: TaskQueueType.WORKFLOW, activity: TaskQueueType.ACTIVITY } as const

/** The latest poll of any worker. */
export async function lastPolledAt(
  context: EngineContext,
  taskQueue: string,
  call: Call,
  tasks: TaskKind = 'workflow',
): Promise<Date | null> {
  return latestPoll(await describe(context, { taskQueue, tasks, reportStats: false }, call))
}

export async function describeTaskQueue(context: EngineContext, taskQueue: string, call: Call): Promise<TaskQueue> {
  const [workflows, activities] = await Promise.all([
    describe(context, { taskQueue, tasks: 'workflow', reportStats: true }, call),
    describe(context, { taskQueue, tasks: 'activity', reportStats: true }, call),
  ])
  return { taskQueue, workflows: toQueuedTasks(workflows), activities: toQueuedTasks(activities) }
}

type Described = Response<'describeTaskQueue'>

interface Describe {
  taskQueue: string
  tasks: TaskKind
  /** Whether the engine counts the tasks, too. */
  reportStats: boolean
}

async function describe(
  { rpc, namespace }: EngineContext,
  { taskQueue, tasks, reportStats }: Describe,
  call: Call,
): Promise<Described> {
  const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType: TYPES[tasks], reportStats }
  try {
    return await rpc('describeTaskQueue', request, call)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}

function toQueuedTasks(described: Described): QueuedTasks {
  const { approximateBacklogCount, approximateBacklogAge, tasksAddRate, tasksDispatchRate } = described.stats ?? {}
  return {
    pollers: described.pollers?.length ?? 0,
    lastPolledAt: latestPoll(described),
    backlog: Number(approximateBacklogCount ?? 0),
    backlogAgeMs: toDurationMs(approximateBacklogAge),
    addedPerSecond: tasksAddRate ?? 0,
    dispatchedPerSecond: tasksDispatchRate ?? 0,
  }
}

/** The engine forgets a poller after 300 s. */
function latestPoll({ pollers }: Described): Date | null {
  const polls = (pollers ?? []).map(({ lastAccessTime }) => toEpochMs(lastAccessTime) ?? 0)
  return polls.length === 0 ? null : new Date(Math.max(...polls))
}
