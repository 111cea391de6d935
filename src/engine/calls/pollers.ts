import type { Call } from '../../domain/call.ts'
import { TaskQueueType } from '../../temporal/enums.ts'
import { toEpochMs } from '../../temporal/time.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'

/** The latest poll of any worker. The engine forgets a poller after 300 s. */
export async function lastPolledAt(
  { rpc, namespace }: EngineContext,
  catalog: string,
  call: Call,
): Promise<Date | null> {
  try {
    const { pollers } = await rpc(
      'describeTaskQueue',
      { namespace, taskQueue: { name: catalog }, taskQueueType: TaskQueueType.WORKFLOW },
      call,
    )
    const polls = (pollers ?? []).map(({ lastAccessTime }) => toEpochMs(lastAccessTime) ?? 0)
    return polls.length === 0 ? null : new Date(Math.max(...polls))
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}
