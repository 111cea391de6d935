/**
 * A worker of the test workflows as a process of its own, so that it can be killed. Its activity `sleeps` does not end
 * by itself. Prints `ready`.
 */
import * as activities from '../support/activities.ts'
import { startWorker } from '../support/worker.ts'

const { ENGINE_ADDRESS: address = '', SERVICE_CATALOG_ID: taskQueue = '' } = process.env
// After this time another worker gets the runs in its cache; the default is ten seconds.
await startWorker({
  address,
  taskQueue,
  activities: { ...activities, sleeps: () => activities.sleeps(600_000) },
  options: { stickyQueueScheduleToStartTimeout: '500ms' },
})
console.log('ready')
