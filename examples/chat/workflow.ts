import { proxyActivities } from '@temporalio/workflow'
import { WorkflowStream } from '@temporalio/workflow-streams/workflow'
import type * as activities from './activity.ts'

const { streamAnswer } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '100ms', maximumAttempts: 5 },
})

/** Answers a question. `GET /workflow/:id/stream` sends the words while the activity publishes them. */
export async function chat({ question }: { question: string }): Promise<string> {
  new WorkflowStream()
  return streamAnswer(question)
}
