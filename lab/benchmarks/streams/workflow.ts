import { condition, defineSignal, setHandler } from '@temporalio/workflow'
import { WorkflowStream } from '@temporalio/workflow-streams/workflow'

const finish = defineSignal('finish')

/** Has a stream, to which others publish, until the signal `finish`. */
export async function stream(): Promise<void> {
  new WorkflowStream()
  let isFinished = false
  setHandler(finish, () => {
    isFinished = true
  })
  await condition(() => isFinished)
}
