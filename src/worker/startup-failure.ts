/** Prints why a worker cannot start as one line, without a stack trace. */

/** Runs `start`. If it rejects and the error is uncaught, the process prints only its message and exits with 1. */
export async function printStartupFailure<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (error instanceof Error) printIfUncaught(error)
    throw error
  }
}

/** Listens for the current turn of the event loop only: a top-level `await` without `catch` throws within it. */
function printIfUncaught(error: Error): void {
  // The program handles uncaught errors itself.
  if (process.listenerCount('uncaughtException') > 0) return
  const print = (uncaught: unknown): void => {
    process.off('uncaughtException', print)
    // Another error: behave as without this listener.
    if (uncaught !== error) throw uncaught
    console.error(error.message)
    process.exit(1)
  }
  process.on('uncaughtException', print)
  setImmediate(() => process.off('uncaughtException', print))
}
