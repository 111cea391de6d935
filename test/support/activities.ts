/** Activities of `workflows.ts`: each does one thing an activity can do. */
import { ApplicationFailure, CompleteAsyncError, Context } from '@temporalio/activity'
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client'

export async function echoBack(value: unknown): Promise<unknown> {
  return value
}

export async function step(number: number): Promise<number> {
  return number
}

/** Succeeds with its second attempt. */
export async function succeedsLater(): Promise<string> {
  const { attempt } = Context.current().info
  if (attempt === 1) throw new Error('the first attempt')
  return `attempt ${attempt}`
}

export async function alwaysFails(): Promise<never> {
  throw new RangeError('always out of range')
}

export async function rejects(): Promise<never> {
  throw ApplicationFailure.create({
    message: 'no retry please',
    type: 'BadInput',
    nonRetryable: true,
    details: [{ field: 'name' }],
    cause: new Error('the cause below'),
  })
}

/** Ends early only when it is cancelled. */
export async function sleeps(ms: number): Promise<void> {
  const context = Context.current()
  const beat = setInterval(() => context.heartbeat(), 100)
  try {
    await context.sleep(ms)
  } finally {
    clearInterval(beat)
  }
}

/** Reports `details` beside a number that no double holds. Then it works until it is canceled, or fails. */
export async function reports({ details, fails }: { details: object; fails: boolean }): Promise<void> {
  const context = Context.current()
  const report = () => context.heartbeat({ ...details, id: JSON.rawJSON('9007199254740993') })
  report()
  if (fails) throw new Error('failed after its report')
  const beat = setInterval(report, 100)
  await context.cancelled.finally(() => clearInterval(beat))
}

export async function cleanUp(what: string): Promise<string> {
  return `cleaned up ${what}`
}

/** Publishes each word in a batch of its own to the topic `tokens`, and returns all of them. */
export async function publishWords(words: string[]): Promise<string> {
  await using stream = WorkflowStreamClient.fromWithinActivity()
  const tokens = stream.topic<{ text: string }>('tokens')
  for (const text of words) {
    tokens.publish({ text })
    await stream.flush()
  }
  return words.join('')
}

/** Publishes the parts of a model's answer as `@temporalio/ai-sdk` does: each as bytes that hold JSON. */
export async function publishParts(topic: string, parts: object[]): Promise<void> {
  await using stream = WorkflowStreamClient.fromWithinActivity({ batchInterval: '100 milliseconds' })
  const published = stream.topic<Uint8Array>(topic)
  for (const part of parts) published.publish(new TextEncoder().encode(JSON.stringify(part)))
}

/** Completes outside: by its workflow id and activity id. */
export async function outside(): Promise<never> {
  throw new CompleteAsyncError()
}

/** The same, as another type. */
export async function outsideToo(): Promise<never> {
  throw new CompleteAsyncError()
}
