/** A worker of the test workflows as a process of its own, so that it can be killed. Prints `ready`. */
import { startWorker } from '../support/worker.ts'

const { ENGINE_ADDRESS: address = '', SERVICE_CATALOG_ID: taskQueue = '' } = process.env
// After this time another worker gets the runs in its cache; the default is ten seconds.
await startWorker({ address, taskQueue, options: { stickyQueueScheduleToStartTimeout: '500ms' } })
console.log('ready')
