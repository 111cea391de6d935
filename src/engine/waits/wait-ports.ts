import { backgroundCall } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import type { EngineContext } from '../context.ts'
import { findEnded } from './find-ended.ts'
import type { SharedWaitsPorts } from './shared-waits.ts'
import { follow, readClosingNow } from './unshared-wait.ts'

/** The engine calls of shared waits. No request's deadline ends a call that several requests share. */
export function waitPorts(context: EngineContext): SharedWaitsPorts {
  return {
    slots: context.polls,
    poll: (run, signal, note) =>
      follow(context, run, { ...backgroundCall('waits', 0), deadlineAt: Number.POSITIVE_INFINITY, signal, note }),
    findEnded: (runs) => findEnded(context, runs),
    readClosing: (run) => readClosingNow(context, run, backgroundCall('waits', TIMEOUT_MS.describe)),
  }
}
