/** Whether the next run of a chain continues the stream of the previous one, or begins its own. */
import type { Call } from '../../../domain/model/call.ts'
import { isObject } from '../../../lib/is-object.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { isOffset } from '../../../protocol/stream.ts'
import type { EngineContext } from '../../context.ts'
import { input } from '../read.ts'

/**
 * `end` is the offset after the last item of the previous run. The state of a stream is in the input of the run that
 * continues it. A retry and a cron run begin with the input of the first run: a state in it is older. A state that
 * cannot be found counts as none: an item that is read twice is better than one that is lost.
 */
export async function isCarriedOn(context: EngineContext, next: RunRef, end: number, call: Call): Promise<boolean> {
  const { args } = await input(context, next, call)
  return (carriedOffset(args) ?? -1) >= end
}

const MAX_DEPTH = 6

/** The offset after the items in the state that the stream libraries pass to the next run; null without one. */
function carriedOffset(value: unknown, depth = 0): number | null {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null
  if (isObject(value) && isOffset(value.base_offset) && Array.isArray(value.log))
    return value.base_offset + value.log.length
  for (const each of Object.values(value)) {
    const found = carriedOffset(each, depth + 1)
    if (found !== null) return found
  }
  return null
}
