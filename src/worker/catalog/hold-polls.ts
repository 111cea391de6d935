import type { Worker } from '@temporalio/worker'

/**
 * Holds back a worker's polls for workflow tasks until `release` is called or the worker is shut down. Call it before
 * `next(worker)` in a plugin's `runWorker`. `isHeld` is false when the worker has not the members that this needs.
 *
 * Delaying `next(worker)` instead would hang: a worker that is not RUNNING ignores `runUntil()` and `shutdown()`. So the worker
 * runs at once, and only the function that it polls with waits. A shutdown meanwhile ends it before the engine has seen a poll.
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

// Protected members of the SDK's worker, the same from 1.21 to 1.24: own functions that are bound already.
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
