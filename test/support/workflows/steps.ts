/** Workflows with activities. */
import {
  ActivityCancellationType,
  condition,
  continueAsNew,
  executeChild,
  proxyActivities,
  sleep,
} from '@temporalio/workflow'
import type * as activities from '../activities.ts'
import { echoBack, sleeps, step } from './proxied.ts'
import { echo } from './values.ts'

/** `n` activities, one after the other: a history of 6 events each. */
export async function manySteps({ n }: { n: number }): Promise<number> {
  for (let number = 1; number <= n; number++) await step(number)
  return n
}

/** One of each: step, timer, child. */
export async function everyKind(input: unknown): Promise<unknown> {
  const value = await echoBack(input)
  await sleep(10, { summary: 'a moment' })
  return executeChild(echo, { args: [value] })
}

export async function longStep({ ms }: { ms: number }): Promise<string> {
  await sleeps(ms)
  return 'done'
}

/** Its step reports `details` with heartbeats until the run ends; one that fails is retried an hour later. */
export async function reportsProgress({ details = {}, fails = false }: { details?: object; fails?: boolean }) {
  const { reports } = proxyActivities<typeof activities>({
    startToCloseTimeout: '60s',
    heartbeatTimeout: '5s',
    retry: { initialInterval: '1h' },
  })
  await reports({ details, fails })
}

/** Its step fails, and is retried an hour later. */
export async function retriedLater(): Promise<never> {
  return proxyActivities<typeof activities>({
    startToCloseTimeout: '20s',
    retry: { initialInterval: '1h' },
  }).alwaysFails()
}

/** Its step waits for a worker of another task queue. */
export async function stepElsewhere(taskQueue: string): Promise<number> {
  return proxyActivities<typeof activities>({ taskQueue, startToCloseTimeout: '20s' }).step(1)
}

interface CompletesOutside {
  /** The ids of its activities, which it executes one after the other. */
  ids?: readonly string[]
  type?: 'outside' | 'outsideToo'
  attempts?: number
  retryInterval?: '20ms' | '1h'
  /** Whether it has another step after them, so that it stays open. */
  staysOpen?: boolean
  /** How often it continues as a new run. */
  rounds?: number
}

/** Its activities complete outside their worker. Returns what they return. */
export async function completesOutside({
  ids = ['approval'],
  rounds = 0,
  ...options
}: CompletesOutside): Promise<unknown> {
  const { type = 'outside', attempts = 3, retryInterval = '20ms', staysOpen = false } = options
  const outputs: unknown[] = []
  for (const activityId of ids) {
    const own = proxyActivities<typeof activities>({
      activityId,
      startToCloseTimeout: '60s',
      heartbeatTimeout: '60s',
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: { initialInterval: retryInterval, backoffCoefficient: 1, maximumAttempts: attempts },
    })
    outputs.push(await own[type]())
  }
  if (staysOpen) await condition(() => false)
  if (rounds > 0) return continueAsNew<typeof completesOutside>({ ids, rounds: rounds - 1, ...options })
  return outputs
}
