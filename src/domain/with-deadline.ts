import type { Call } from './call.ts'
import { ServiceError } from './errors.ts'

/** What others wait for as well, but for no longer than this caller waits. */
export async function inTime<T>(shared: Promise<T>, call: Call): Promise<T> {
  let giveUp = () => {}
  const late = new Promise<never>((_, reject) => {
    giveUp = () =>
      reject(
        new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.', {
          details: { retryAfterSeconds: 1 },
        }),
      )
  })
  const timer = setTimeout(giveUp, Math.max(0, call.deadlineAt - Date.now()))
  call.signal.addEventListener('abort', giveUp)
  try {
    return await Promise.race([shared, late])
  } finally {
    clearTimeout(timer)
    call.signal.removeEventListener('abort', giveUp)
  }
}
