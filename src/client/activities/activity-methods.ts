/** Ends activities that complete outside their worker. */
import type { Connection } from '../connection/connection.ts'
import { newIdempotencyKey, withKey } from '../connection/idempotency-key.ts'
import type { CallOptions } from '../connection/options.ts'
import { withFacts } from '../portico-error.ts'
import type { RunOfHandle } from '../run-of-handle.ts'
import { pathSegment } from '../target.ts'
import type { ActivityMethods, CompleteActivityRequest } from './requests.ts'

export function activityMethods({ send }: Connection, run: RunOfHandle): ActivityMethods {
  function post<Body>(
    activityId: string,
    name: string,
    { signal, timeoutMs, ...body }: CallOptions,
    keyed: { headers?: Record<string, string>; isRetryable: boolean },
  ): Promise<Body> {
    const to = `activities/${pathSegment(activityId, 'an activity')}/${name}`
    return run.onLatestRun(
      (path, options) => send<Body>({ method: 'POST', path: `${path}/${to}`, body, ...keyed }, options),
      { signal, timeoutMs },
    )
  }

  async function end<Body>(
    activityId: string,
    name: string,
    { idempotencyKey = newIdempotencyKey(), ...request }: CompleteActivityRequest,
    isRetryable: boolean,
  ): Promise<Body> {
    try {
      return await post(activityId, name, request, { ...withKey(idempotencyKey), isRetryable })
    } catch (error) {
      throw withFacts(error, { idempotencyKey })
    }
  }

  return {
    completeActivity: (activityId, request = {}) => end(activityId, 'complete', request, true),
    failActivity: (activityId, request) => end(activityId, 'fail', request, request.retryable === false),
    heartbeatActivity: (activityId, request = {}) => post(activityId, 'heartbeat', request, { isRetryable: true }),
  }
}
