import { proxyActivities } from '@temporalio/workflow'
import type * as activities from './activities.ts'

const { noop, twoSpans } = proxyActivities<typeof activities>({ startToCloseTimeout: '3s' })

/** One activity, which records two spans. */
export async function oneStep(): Promise<string> {
  return twoSpans()
}

/** Runs the given number of short activities, 20 at a time. */
export async function busy({ activities: count }: { activities: number }): Promise<void> {
  for (let left = count; left > 0; left -= 20)
    await Promise.all(Array.from({ length: Math.min(left, 20) }, () => noop()))
}
