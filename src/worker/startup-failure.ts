/** Prints why a worker cannot start as one line, without a stack trace. */

/**
 * Runs `start`. If it rejects and nobody handles the error, the process prints only the error's message and exits with
 * code 1.
 */
export async function printStartupFailure<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (error instanceof Error) printIfUncaught(error)
    throw error
  }
}

/**
 * Listens only for the current turn of the event loop, in which a top-level `await` without `catch` makes the error
 * uncaught.
 */
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
