/** Workflows that have a value everywhere where a workflow can have one. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  upsertMemo,
} from '@temporalio/workflow'
import { WorkflowStream } from '@temporalio/workflow-streams/workflow'
import type * as activities from './activities.ts'
import type { Value } from './kinds.ts'

const { passes, fails, reports } = proxyActivities<typeof activities>({
  startToCloseTimeout: '60s',
  heartbeatTimeout: '30s',
})
const local = proxyLocalActivities<typeof activities>({ startToCloseTimeout: '10s' })

export async function returns(value: Value): Promise<Value> {
  return value
}

/** Ends after the signal `finish`, whose argument is the value: with its result, or with a failure that has it. */
export async function carries(value: Value, isFailing: boolean): Promise<Value> {
  let last: Value | null = null
  new WorkflowStream()
  setHandler(defineQuery<Value>('peek'), () => value)
  setHandler(defineUpdate<Value, [Value]>('swap'), (given) => given)
  setHandler(defineSignal<[Value]>('finish'), (given) => {
    last = given
  })
  upsertMemo({ note: value, $asks: value })
  await passes(value, value)
  await local.passes(value, value)
  await fails(value, true).catch(() => {})
  await executeChild(returns, { args: [value] })
  const open = new CancellationScope()
  const ended = open
    .run(() => Promise.all([reports(value), fails(value, false)]))
    .catch((error: unknown) => {
      if (!open.consideredCancelled) throw error
    })
  await condition(() => last !== null)
  open.cancel()
  await ended
  if (isFailing) throw ApplicationFailure.create({ message: 'failed', details: [last], nonRetryable: true })
  return value
}
