import type { PendingActivity, PendingWork } from '../../../../src/service/model/pending-work.ts'

/** Of a run that only a message can move. */
export const IDLE_WORK: PendingWork = {
  paused: null,
  canceling: null,
  workflowTask: null,
  waitingSignals: [],
  problem: null,
  activities: [],
  children: [],
  timers: [],
  waitsForNexus: false,
  idleSince: new Date('2026-11-21T02:55:53.503Z'),
  readFromStart: true,
}

/** A first attempt that a worker executes. */
export const STARTED_ACTIVITY: PendingActivity = {
  activityId: '1',
  name: 'charge',
  taskQueue: 'orders',
  state: 'started',
  pauseReason: null,
  attempt: 1,
  maximumAttempts: null,
  since: IDLE_WORK.idleSince,
  nextAttemptAt: null,
  lastFailure: null,
}
