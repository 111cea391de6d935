/** The SDK's own readers of a stream: `sdk-readers.ts <address of the engine> <workflow id> <count>`. */
import { Client, Connection } from '@temporalio/client'
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client'
import { now, record, type Sent } from './latencies.ts'
import { serveReports } from './reader-process.ts'

const [, , address = '', workflowId = '', count = '0'] = process.argv
const reports = serveReports()
const client = new Client({ connection: await Connection.connect({ address }) })
for (let left = Number(count); left > 0; left--) read().catch(reports.fail)
reports.connected(Number(count))

async function read(): Promise<void> {
  let next: number | null = null
  for await (const { offset, data } of WorkflowStreamClient.create(client as never, workflowId)
    .topic<Sent>('tokens')
    .subscribe()) {
    const receivedAt = now()
    const latencies = reports.latencies()
    if (next !== null && offset !== next) latencies.gaps++
    next = offset + 1
    record(latencies, data, receivedAt)
  }
}
