/** A worker of the test workflows as a process of its own, so that it can be killed. Prints `ready`. */
import { startWorker } from '../support/worker.ts'

const { ENGINE_ADDRESS: address = '', SERVICE_CATALOG_ID: taskQueue = '' } = process.env
// What it has in its cache another worker gets after this; ten seconds unless told otherwise.
await startWorker({ address, taskQueue, options: { stickyQueueScheduleToStartTimeout: '500ms' } })
console.log('ready')
