import { linkSignals } from '../lib/abort.ts'
import { whenSent } from './context.ts'
import type { OpenRequests } from './open-requests.ts'
import type { Step } from './step.ts'

/** Sets `signal`, which aborts when the client disconnects or the server shuts down. */
export function abortable(openRequests: OpenRequests): Step {
  return (c) => {
    const linked = linkSignals(c.req.raw.signal)
    const remove = openRequests.add(linked)
    c.set('signal', linked.signal)
    c.set('abort', () => linked.abort())
    return () =>
      whenSent(c, () => {
        remove()
        linked.release()
      })
  }
}
