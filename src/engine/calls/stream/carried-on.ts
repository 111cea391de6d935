/** Whether the next run of a chain continues the stream of the previous one, or begins its own. */
import type { Call } from '../../../domain/model/call.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { findStreamState } from '../../../protocol/stream.ts'
import type { EngineContext } from '../../context.ts'
import { input } from '../read.ts'

/**
 * `end` is the offset after the last item of the previous run. The state of a stream is in the input of the run that
 * continues it. A retry and a cron run begin with the input of the first run: a state in it is older. A state that
 * cannot be found counts as none: an item that is read twice is better than one that is lost.
 */
export async function isCarriedOn(context: EngineContext, next: RunRef, end: number, call: Call): Promise<boolean> {
  const { args } = await input(context, next, call)
  const state = findStreamState(args)
  return state !== null && state.base_offset + state.log.length >= end
}
