import * as sdk from '@temporalio/worker'

/**
 * Delays a worker's polls for workflow tasks until `release` is called. Call it before `next(worker)` in a plugin's
 * `runWorker`. `isHeld` is false if this version of the SDK does not have the members.
 *
 * Delaying `next(worker)` would hang, because a worker that is not RUNNING ignores `runUntil()` and `shutdown()`. The
 * worker therefore runs at once and only its poll function waits.
 *
 * If the worker is shut down meanwhile, the poll function reports the shutdown itself. The SDK's own poll function
 * often sends a last poll after the shutdown, and the engine then lists a poller of a task queue that has no catalog.
 * In rare cases (SDK 1.24) the shutdown alone makes the SDK send one.
 */
export function holdPolls(worker: sdk.Worker): { isHeld: boolean; release: () => void } {
  const native: unknown = Reflect.get(worker, 'nativeWorker')
  const released = Promise.withResolvers<void>()
  if (!isNativeWorker(native) || !('ShutdownError' in sdk)) return { isHeld: false, release: released.resolve }
  const { pollWorkflowActivation, initiateShutdown } = native
  native.pollWorkflowActivation = async () => {
    await released.promise
    return pollWorkflowActivation()
  }
  native.initiateShutdown = () => {
    try {
      initiateShutdown()
    } finally {
      released.reject(new sdk.ShutdownError('The worker was shut down before it polled'))
    }
  }
  // A worker that is shut down before its first poll does not await the promise.
  released.promise.catch(() => {})
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
