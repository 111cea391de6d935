import { TaskQueueType } from '../../../shared/temporal/enums.ts'
import { toEpochMs } from '../../../shared/temporal/time.ts'
import type { Call } from '../../model/call.ts'
import type { TaskKind } from '../../model/engine.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'

const TYPES = { workflow: TaskQueueType.WORKFLOW, activity: TaskQueueType.ACTIVITY } as const

/** The latest poll of any worker. The engine forgets a poller after 300 s. */
export async function lastPolledAt(
  { rpc, namespace }: EngineContext,
  taskQueue: string,
  call: Call,
  tasks: TaskKind = 'workflow',
): Promise<Date | null> {
  try {
    const { pollers } = await rpc(
      'describeTaskQueue',
      { namespace, taskQueue: { name: taskQueue }, taskQueueType: TYPES[tasks] },
      call,
    )
    const polls = (pollers ?? []).map(({ lastAccessTime }) => toEpochMs(lastAccessTime) ?? 0)
    return polls.length === 0 ? null : new Date(Math.max(...polls))
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}
