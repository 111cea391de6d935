import type { Engine } from './engine.ts'
import { ServiceError } from './errors.ts'
import { type RememberOptions, remember } from './remember.ts'

// The wire contract allows 2 s; with less, all is well within them of an engine's return, this answer too.
const PING_DEADLINE_MS = 1000
const PING_REMEMBERED_MS = 1000

/** Whether the engine answers, asked of it at most every second. */
export function createReady(engine: Engine, options: Pick<RememberOptions<boolean>, 'sharesPending'>): () => Promise<boolean> {
  const pings = remember({ ...options, read: () => ping(engine), ttlMs: PING_REMEMBERED_MS, maxKeys: 1 })
  return async () => (await pings('engine')).value
}

function ping(engine: Engine): Promise<boolean> {
  const call = { signal: new AbortController().signal, deadlineAt: Date.now() + PING_DEADLINE_MS, requestId: 'ready', note() {} }
  return engine.ping(call).then(
    () => true,
    // A limit is the engine's own word: it is there. Whatever else went wrong shows in the log of the requests that meet it.
    (error) => error instanceof ServiceError && error.error === 'ResourceExhaustedError',
  )
}
