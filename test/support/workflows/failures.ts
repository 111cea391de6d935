/** Workflows that fail, each in another way. */
import {
  ApplicationFailure,
  CancelledFailure,
  condition,
  defineSignal,
  executeChild,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type * as activities from '../activities.ts'
import { alwaysFails, rejects, step } from './proxied.ts'

/** Outer <- Middle <- a cause without a type. */
export async function failWithCauses(): Promise<never> {
  throw ApplicationFailure.create({
    message: 'the outer failure',
    type: 'Outer',
    nonRetryable: true,
    details: [{ code: 17 }],
    cause: ApplicationFailure.create({ message: 'in the middle', type: 'Middle', cause: new Error('the root cause') }),
  })
}

export async function failRetryable(): Promise<never> {
  throw ApplicationFailure.retryable('may be tried again', 'Flaky')
}

export async function failInActivity(): Promise<never> {
  return rejects()
}

export async function failAfterRetries(): Promise<never> {
  return alwaysFails()
}

export async function failInActivityTimeout(): Promise<void> {
  await proxyActivities<typeof activities>({ startToCloseTimeout: '200ms', retry: { maximumAttempts: 1 } }).sleeps(
    60_000,
  )
}

/** A user's failure whose cause is an activity's. */
export async function failWrapped(): Promise<never> {
  try {
    return await rejects()
  } catch (error) {
    throw ApplicationFailure.create({
      message: 'could not go on',
      type: 'Outer',
      ...(error instanceof Error && { cause: error }),
    })
  }
}

/** Rethrows an activity's failure as the cause of an application failure of type `ActivityFailure`. */
export async function failRethrown(): Promise<never> {
  try {
    return await rejects()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw ApplicationFailure.create({ message: error.message, type: error.constructor.name, cause: error })
  }
}

/**
 * Rethrows a child's failure as an application failure of type `ChildWorkflowFailure`, without the engine's wrapper.
 */
export async function failRethrownByParent(): Promise<never> {
  try {
    return await executeChild(failRethrown)
  } catch (error) {
    throw ApplicationFailure.fromError(error)
  }
}

export async function failInChild(): Promise<unknown> {
  return executeChild(failWithCauses)
}

/** Throws a cancellation without a request to cancel. */
export async function failCancelledUnasked(): Promise<never> {
  throw new CancelledFailure('nobody asked')
}

/** Its workflow task fails again and again; the run stays open. */
export async function failTask(): Promise<never> {
  throw new Error('a bug in the workflow')
}

/** Its workflow task fails again and again until it gets the signal `fix`; then it waits. */
export async function failsUntilFixed(): Promise<void> {
  let isFixed = false
  setHandler(defineSignal('fix'), () => {
    isFixed = true
  })
  // The handler is called after this.
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  if (!isFixed) throw new Error('a bug in the workflow')
  await condition(() => false)
}

/** Its workflow task fails again and again after its step. */
export async function failsAfterStep(): Promise<never> {
  await step(1)
  throw new Error('a bug after the step')
}

/** Its workflow task fails with an error that contains details of the worker's machine. */
export async function failTaskWithPath(): Promise<never> {
  throw new TypeError(
    "can't read '/srv/app/node_modules/x/index.js' of 4711@build-host: connect ECONNREFUSED 10.0.0.3:5432",
  )
}

/** Fails until the engine's retry policy has made `succeedsAt` runs of it. */
export async function retriedRun({ succeedsAt }: { succeedsAt: number }): Promise<number> {
  const { attempt } = workflowInfo()
  if (attempt < succeedsAt) throw ApplicationFailure.retryable(`run ${attempt} fails`, 'Flaky')
  return attempt
}
