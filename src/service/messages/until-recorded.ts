/** Waits until a message is in the history of its run. */
import { sleep } from '../../shared/lib/abort.ts'
import type { Call } from '../model/call.ts'
import { hasErrorName, type ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'

const READ_PAUSE_MS = 100

// The engine may drop the events of a pending workflow task, and give their ids to others.
const UNCERTAIN_EVENTS = 10

/** The event that every message has passed that is recorded after the run was described. */
export function lastEventBefore({ historyLength }: Pick<Description, 'historyLength'>): number {
  return Math.max(0, historyLength - UNCERTAIN_EVENTS)
}

/**
 * Reads until there is a value, or throws `unrecorded()` at the deadline: the engine records a signal that arrives
 * during a workflow task only after this task.
 */
export async function untilRecorded<T>(
  read: () => Promise<T | null>,
  call: Call,
  unrecorded: () => ServiceError,
): Promise<T> {
  const isLate = () => Date.now() + READ_PAUSE_MS >= call.deadlineAt
  while (true) {
    const recorded = await read().catch((error) => {
      // The last read may be the one that the deadline ends.
      throw isLate() && hasErrorName(error, 'EngineUnavailableError') ? unrecorded() : error
    })
    if (recorded !== null) return recorded
    if (isLate()) throw unrecorded()
    await sleep(READ_PAUSE_MS, call.signal)
  }
}
