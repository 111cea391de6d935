import type { Worker } from '@temporalio/worker'

/**
 * Delays a worker's polls for workflow tasks until `release` is called or the worker shuts down. Call it before
 * `next(worker)` in a plugin's `runWorker`. `isHeld` is false if this version of the SDK lacks the members it needs.
 *
 * Delaying `next(worker)` would hang, because a worker that is not RUNNING ignores `runUntil()` and `shutdown()`. The
 * worker therefore runs at once and only its poll function waits. A worker that is shut down meanwhile never polls.
 */
export function holdPolls(worker: Worker): { isHeld: boolean; release: () => void } {
  const native: unknown = Reflect.get(worker, 'nativeWorker')
  const released = Promise.withResolvers<void>()
  if (!isNativeWorker(native)) return { isHeld: false, release: released.resolve }
  const { pollWorkflowActivation, initiateShutdown } = native
  native.pollWorkflowActivation = async () => {
    await released.promise
    return pollWorkflowActivation()
  }
  native.initiateShutdown = () => {
    try {
      initiateShutdown()
    } finally {
      released.resolve()
    }
  }
  return { isHeld: true, release: released.resolve }
}

// Private members of the SDK's worker, unchanged from 1.21 to 1.24: own properties that are bound functions.
interface NativeWorker {
  pollWorkflowActivation(): Promise<unknown>
  initiateShutdown(): void
}

function isNativeWorker(value: unknown): value is NativeWorker {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['pollWorkflowActivation', 'initiateShutdown'].every(
      (name) => Object.hasOwn(value, name) && typeof Reflect.get(value, name) === 'function',
    )
  )
}
