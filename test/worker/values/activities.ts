import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { Value } from './kinds.ts'

export async function passes(value: Value, _another: Value): Promise<Value> {
  return value
}

/** Fails for good, or is retried after an hour. */
export async function fails(value: Value, isFinal: boolean): Promise<void> {
  throw ApplicationFailure.create({
    message: 'failed',
    details: [value],
    nonRetryable: isFinal,
    nextRetryDelay: '1h',
  })
}

/** Reports until it is canceled. */
export async function reports(value: Value): Promise<void> {
  while (true) {
    Context.current().heartbeat(value)
    await Context.current().sleep(100)
  }
}
