/** The methods of an activity without a workflow, by its name: docs/api/activities-alone.md. */
import type { Activity, ActivityHandle, ActivityRef } from '../client.ts'
import type { Connection } from '../connection/connection.ts'
import type { ActivityResult, ActivityState } from '../responses.ts'
import { createRunOfHandle } from '../run-of-handle.ts'
import { createReads } from './reads.ts'
import { createReports } from './reports.ts'
import { createStarts } from './starts.ts'

export function createActivity(connection: Connection, activityName: string, catalog?: string): Activity {
  const { start, ...runs } = createStarts<ActivityResult>(connection, 'activity', activityName, catalog)
  return {
    ...runs,
    start: async (given = {}) => handleOf(connection, await start('start', 'args', given)),
    get: (ref) => handleOf(connection, ref),
  }
}

function handleOf(connection: Connection, ref: ActivityRef): ActivityHandle {
  const { activityId, runId } = typeof ref === 'string' ? { activityId: ref } : ref
  const target = { activityId, runId, isPinned: runId !== undefined }
  // Also what ends the activity goes to one run, so that it can be repeated.
  const { post, end } = createReports(connection, createRunOfHandle(connection, target))
  return {
    ...createReads<{ activityId: string }, ActivityResult, ActivityState>(connection, 'activity', target),
    stop: (request) => post('stop', request, { method: 'PATCH' }),
    // Not retryable: the engine would reject the repeated request.
    terminate: (request) => post('terminate', request, {}),
    complete: (request) => end('complete', request),
    fail: (request) => end('fail', request, request.retryable === false),
    heartbeat: (request) => post('heartbeat', request),
  }
}
