/**
 * Two workflows with the same handlers, activities, questions and stream, of which a caller may be allowed one. They
 * wait until they are canceled, or continue as the other one.
 */
import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  makeContinueAsNewFunc,
  scheduleActivity,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow'
import { WorkflowStream } from '@temporalio/workflow-streams/workflow'
import { ACTIVITIES, CONTINUE, HANDLERS } from './access-names.ts'

async function waitForever(): Promise<void> {
  const { workflowType } = workflowInfo()
  let continues = false
  setHandler(defineSignal(CONTINUE), () => {
    continues = true
  })
  for (const name of HANDLERS) {
    setHandler(defineSignal<unknown[]>(name), () => {})
    setHandler(defineQuery<string>(name), () => name)
    setHandler(defineUpdate<string>(name), () => name)
  }
  // Each question stays open, whoever answers it.
  upsertMemo({ $asks: Object.fromEntries(HANDLERS.map((signal) => [signal, { signal, message: `${signal}?` }])) })
  new WorkflowStream().topic<string>('names').publish(workflowType)
  for (const type of ACTIVITIES) void executeForever(type)
  await condition(() => continues)
  await makeContinueAsNewFunc({ workflowType: workflowType === 'order' ? 'admin' : 'order' })()
}

/** There is always an open activity of the type, whoever completes it. */
async function executeForever(type: string): Promise<void> {
  try {
    while (true)
      await scheduleActivity(type, [], {
        activityId: type,
        startToCloseTimeout: '1h',
        retry: { initialInterval: '1ms', backoffCoefficient: 1 },
      })
  } catch {
    // It is canceled with the workflow, or has failed for ever.
  }
}

export async function order(): Promise<void> {
  await waitForever()
}

export async function admin(): Promise<void> {
  await waitForever()
}
