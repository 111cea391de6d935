/** Why a worker does not start is a sentence for who runs it: where in our code it was found out tells nothing. */

/** Does `act`. What it rejects with, when nobody handles it, ends the process with its message alone, as an uncaught error with code 1. */
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
    // Another's: as if nobody had listened.
    if (uncaught !== error) throw uncaught
    console.error(error.message)
    process.exit(1)
  }
  process.on('uncaughtException', print)
  setImmediate(() => process.off('uncaughtException', print))
}
