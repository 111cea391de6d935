/** Workflows that publish a stream with the SDK's own library, and one without whose handlers accept every name. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  makeContinueAsNewFunc,
  proxyActivities,
  setDefaultQueryHandler,
  setDefaultSignalHandler,
  setDefaultUpdateHandler,
  setHandler,
} from '@temporalio/workflow'
import { WorkflowStream, type WorkflowStreamState } from '@temporalio/workflow-streams/workflow'
import type * as activities from '../activities.ts'

const finish = defineSignal('finish')

export interface StreamSignalsInput {
  /** Number of the run in its chain. */
  round?: number
  streamState?: WorkflowStreamState | undefined
  /** A canceled run continues until a signal ends it. */
  outlivesCancel?: boolean
}

/**
 * Has a stream to which clients publish. Signals: `publishItself` (how many numbers the workflow itself publishes),
 * `truncate` (up to which offset), `detachPollers` (as before a continue-as-new that takes its time), `continueAsNew`
 * (with the items of the stream), `restart` (without them), `fail` (a retry policy starts another run), `failTask` (the
 * workflow makes no progress any more) and `finish`.
 * Update `add` returns the sum of all numbers added, and `hold` returns after the signal `release`.
 * Query `state`.
 */
export async function streamSignals(input: StreamSignalsInput = {}): Promise<string> {
  const { round = 1, streamState, outlivesCancel = false } = input
  const stream = new WorkflowStream(streamState)
  let sum = 0
  let received: 'finish' | 'fail' | 'continueAsNew' | 'restart' | null = null
  setHandler(defineUpdate<number, [number]>('add'), (number) => {
    sum += number
    return sum
  })
  let isReleased = false
  setHandler(defineSignal('release'), () => {
    isReleased = true
  })
  setHandler(defineUpdate('hold'), () => condition(() => isReleased))
  setHandler(defineQuery<object>('state'), () => ({ round, sum }))
  setHandler(defineSignal<[number]>('publishItself'), (count) => publishNumbers(stream, count))
  setHandler(defineSignal<[number]>('truncate'), (offset) => stream.truncate(offset))
  setHandler(defineSignal('detachPollers'), () => stream.detachPollers())
  setHandler(defineSignal('failTask'), () => {
    throw new Error('a bug in the workflow')
  })
  for (const name of ['finish', 'fail', 'continueAsNew', 'restart'] as const) {
    setHandler(defineSignal(name), () => {
      received ??= name
    })
  }
  const ended = () => condition(() => received !== null)
  await (outlivesCancel ? CancellationScope.nonCancellable(ended) : ended())
  switch (received as string | null) {
    case 'continueAsNew':
      return stream.continueAsNew<typeof streamSignals>((state) => [{ round: round + 1, streamState: state }])
    case 'restart':
      return continueAsNew<typeof streamSignals>({ round: round + 1 })
    case 'fail':
      throw ApplicationFailure.retryable('signalled to fail', 'StreamFailed')
    default:
      return 'done'
  }
}

/** Has a stream. Continues as the other workflow after the signal `continueAsNew`, without the items. */
export async function becomes({ workflowType, input }: { workflowType: string; input: unknown }): Promise<void> {
  let isOver = false
  setHandler(defineSignal('continueAsNew'), () => {
    isOver = true
  })
  new WorkflowStream().topic('own').publish('of becomes')
  await condition(() => isOver)
  await makeContinueAsNewFunc<(input: unknown) => Promise<unknown>>({ workflowType })(input)
}

/** The workflow itself publishes, and returns in the same workflow task: history does not contain the items. */
export async function streamItself(count: number): Promise<string> {
  publishNumbers(new WorkflowStream(), count)
  return 'done'
}

/** The workflow itself publishes at its start, and ends after `finish`. */
export async function streamItselfFirst(count: number): Promise<string> {
  let isFinished = false
  setHandler(finish, () => {
    isFinished = true
  })
  publishNumbers(new WorkflowStream(), count)
  await condition(() => isFinished)
  return 'done'
}

/** The workflow itself publishes one item of this size; from 1.5 MB a poll's answer is too large for the engine. */
export async function streamBig(bytes: number): Promise<string> {
  let finished = false
  setHandler(finish, () => {
    finished = true
  })
  new WorkflowStream().topic('big').publish('x'.repeat(bytes))
  await condition(() => finished)
  return 'done'
}

/** An activity publishes each word in a batch of its own. */
export async function streamFromActivity(words: string[]): Promise<string> {
  new WorkflowStream()
  return proxyActivities<typeof activities>({ startToCloseTimeout: '20s' }).publishWords(words)
}

/** An activity publishes the parts of a model's answer. */
export async function streamParts(topic: string, parts: object[]): Promise<void> {
  new WorkflowStream()
  await proxyActivities<typeof activities>({ startToCloseTimeout: '20s' }).publishParts(topic, parts)
}

/** Has no stream, but handlers for every name; returns the names of its signals after `finish`. */
export async function defaultHandlers(): Promise<string[]> {
  const names: string[] = []
  setDefaultSignalHandler((name) => void names.push(name))
  setDefaultUpdateHandler((name) => ({ update: name }))
  setDefaultQueryHandler((name) => ({ query: name, names }))
  await condition(() => names.includes('finish'))
  return names
}

function publishNumbers(stream: WorkflowStream, count: number): void {
  const numbers = stream.topic<number>('numbers')
  for (let number = 0; number < count; number++) numbers.publish(number)
}
