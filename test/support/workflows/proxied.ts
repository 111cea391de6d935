/** The activities with the usual timeouts and retries. */
import { proxyActivities } from '@temporalio/workflow'
import type * as activities from '../activities.ts'

export const { echoBack, step, succeedsLater, alwaysFails, rejects, sleeps, cleanUp } = proxyActivities<
  typeof activities
>({
  startToCloseTimeout: '20s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '20ms', backoffCoefficient: 1, maximumAttempts: 5 },
})
