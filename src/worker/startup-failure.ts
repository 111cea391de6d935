/** Why a worker does not start is a sentence for who runs it: where in our code it was found out tells nothing. */

/** Runs `act`. If it rejects and the error is not handled, the process prints only the message and exits with code 1. */
export async function orSayWhy<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Error) printAlone(error)
    throw error
  }
}

/** For the current turn of the event loop: an `await` at the top of a module without a `catch` makes it uncaught within that turn. */
function printAlone(error: Error): void {
  // Whoever handles such errors decides themselves.
  if (process.listenerCount('uncaughtException') > 0) return
  const print = (uncaught: unknown): void => {
    process.off('uncaughtException', print)
    // Not ours: behave as without this listener.
    if (uncaught !== error) throw uncaught
    console.error(error.message)
    process.exit(1)
  }
  process.on('uncaughtException', print)
  setImmediate(() => process.off('uncaughtException', print))
}
