/** Workflows that handle a request to cancel them. */
import { CancellationScope, condition, isCancellation, setHandler, sleep } from '@temporalio/workflow'
import { state } from './messages.ts'
import { cleanUp } from './proxied.ts'

export async function catchesCancel(): Promise<string> {
  try {
    await condition(() => false)
    return 'never'
  } catch (error) {
    if (!isCancellation(error)) throw error
    return 'stopped, and glad of it'
  }
}

/** Cleans up for `ms`, then ends `canceled`. */
export async function cleansUp({ ms = 0 }: { ms?: number } = {}): Promise<void> {
  let stage = 'working'
  setHandler(state, () => stage)
  try {
    await condition(() => false)
  } finally {
    stage = 'cleaning up'
    await CancellationScope.nonCancellable(async () => {
      await cleanUp('everything')
      await sleep(ms)
    })
  }
}
