/** Plain workflows for the whole suite: each does one thing a workflow can do. They know nothing of Portico. */
import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow'
import type * as activities from './activities.ts'

export * from './stream-workflows.ts'

const { echoBack, step, succeedsLater, alwaysFails, rejects, sleeps, cleanUp } = proxyActivities<typeof activities>({
  startToCloseTimeout: '20s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '20ms', backoffCoefficient: 1, maximumAttempts: 5 },
})

// What comes out

export async function echo(input: unknown): Promise<unknown> {
  return input
}

export async function several(...args: unknown[]): Promise<unknown[]> {
  return args
}

export async function nothing(): Promise<void> {}

/** A number beyond 2^53 and a long decimal, as a worker in another language would send them. */
export async function hugeNumbers(): Promise<object> {
  return { id: JSON.rawJSON('9007199254740993'), price: JSON.rawJSON('0.12345678901234567890'), plain: 1.5 }
}

export async function bigOutput({ bytes }: { bytes: number }): Promise<string> {
  return 'x'.repeat(bytes)
}

/** The workflow's own information from the engine. */
export async function whoAmI(): Promise<object> {
  const { workflowId, runId, firstExecutionRunId, workflowType, taskQueue, attempt } = workflowInfo()
  return { workflowId, runId, firstExecutionRunId, workflowType, taskQueue, attempt }
}

/** Its search attributes by name, with the types that the SDK knows them by. */
export async function ownAttributes(): Promise<object> {
  const pairs = workflowInfo().typedSearchAttributes.getAll()
  return Object.fromEntries(pairs.map(({ key: { name, type }, value }) => [name, { type, value }]))
}

// Time

export async function sleepFor({ ms }: { ms: number }): Promise<string> {
  await sleep(ms)
  return 'slept'
}

export async function neverEnds(): Promise<void> {
  await condition(() => false)
}

// Steps

/** `n` activities, one after the other: a history of 6 events each. */
export async function manySteps({ n }: { n: number }): Promise<number> {
  for (let number = 1; number <= n; number++) await step(number)
  return n
}

/** One of each: step, timer, child. */
export async function everyKind(input: unknown): Promise<unknown> {
  const value = await echoBack(input)
  await sleep(10)
  return executeChild(echo, { args: [value] })
}

export async function longStep({ ms }: { ms: number }): Promise<string> {
  await sleeps(ms)
  return 'done'
}

/** Its step reports `details` with heartbeats until the run ends; one that fails is retried an hour later. */
export async function reportsProgress({ details = {}, fails = false }: { details?: object; fails?: boolean }) {
  const { reports } = proxyActivities<typeof activities>({
    startToCloseTimeout: '60s',
    heartbeatTimeout: '5s',
    retry: { initialInterval: '1h' },
  })
  await reports({ details, fails })
}

/** Its step fails, and is retried an hour later. */
export async function retriedLater(): Promise<never> {
  return proxyActivities<typeof activities>({
    startToCloseTimeout: '20s',
    retry: { initialInterval: '1h' },
  }).alwaysFails()
}

/** Its step waits for a worker of another task queue. */
export async function stepElsewhere(taskQueue: string): Promise<number> {
  return proxyActivities<typeof activities>({ taskQueue, startToCloseTimeout: '20s' }).step(1)
}

interface CompletesOutside {
  /** The ids of its activities, which it executes one after the other. */
  ids?: readonly string[]
  type?: 'outside' | 'outsideToo'
  attempts?: number
  retryInterval?: '20ms' | '1h'
  /** Whether it has another step after them, so that it stays open. */
  staysOpen?: boolean
  /** How often it continues as a new run. */
  rounds?: number
}

/** Its activities complete outside their worker. Returns what they return. */
export async function completesOutside({
  ids = ['approval'],
  rounds = 0,
  ...options
}: CompletesOutside): Promise<unknown> {
  const { type = 'outside', attempts = 3, retryInterval = '20ms', staysOpen = false } = options
  const outputs: unknown[] = []
  for (const activityId of ids) {
    const own = proxyActivities<typeof activities>({
      activityId,
      startToCloseTimeout: '60s',
      heartbeatTimeout: '60s',
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: { initialInterval: retryInterval, backoffCoefficient: 1, maximumAttempts: attempts },
    })
    outputs.push(await own[type]())
  }
  if (staysOpen) await condition(() => false)
  if (rounds > 0) return continueAsNew<typeof completesOutside>({ ids, rounds: rounds - 1, ...options })
  return outputs
}

// Failures

/** Outer <- Middle <- a cause without a type. */
export async function failWithCauses(): Promise<never> {
  throw ApplicationFailure.create({
    message: 'the outer failure',
    type: 'Outer',
    nonRetryable: true,
    details: [{ code: 17 }],
    cause: ApplicationFailure.create({ message: 'in the middle', type: 'Middle', cause: new Error('the root cause') }),
  })
}

export async function failRetryable(): Promise<never> {
  throw ApplicationFailure.retryable('may be tried again', 'Flaky')
}

export async function failInActivity(): Promise<never> {
  return rejects()
}

export async function failAfterRetries(): Promise<never> {
  return alwaysFails()
}

export async function failInActivityTimeout(): Promise<void> {
  await proxyActivities<typeof activities>({ startToCloseTimeout: '200ms', retry: { maximumAttempts: 1 } }).sleeps(
    60_000,
  )
}

/** A user's failure whose cause is an activity's. */
export async function failWrapped(): Promise<never> {
  try {
    return await rejects()
  } catch (error) {
    throw ApplicationFailure.create({
      message: 'could not go on',
      type: 'Outer',
      ...(error instanceof Error && { cause: error }),
    })
  }
}

/** Rethrows an activity's failure as the cause of an application failure of type `ActivityFailure`. */
export async function failRethrown(): Promise<never> {
  try {
    return await rejects()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw ApplicationFailure.create({ message: error.message, type: error.constructor.name, cause: error })
  }
}

/**
 * Rethrows a child's failure as an application failure of type `ChildWorkflowFailure`, without the engine's wrapper.
 */
export async function failRethrownByParent(): Promise<never> {
  try {
    return await executeChild(failRethrown)
  } catch (error) {
    throw ApplicationFailure.fromError(error)
  }
}

export async function failInChild(): Promise<unknown> {
  return executeChild(failWithCauses)
}

/** Throws a cancellation without a request to cancel. */
export async function failCancelledUnasked(): Promise<never> {
  throw new CancelledFailure('nobody asked')
}

/** Its workflow task fails again and again; the run stays open. */
export async function failTask(): Promise<never> {
  throw new Error('a bug in the workflow')
}

/** Its workflow task fails again and again after its step. */
export async function failsAfterStep(): Promise<never> {
  await step(1)
  throw new Error('a bug after the step')
}

/** Its workflow task fails with an error that contains details of the worker's machine. */
export async function failTaskWithPath(): Promise<never> {
  throw new TypeError(
    "can't read '/srv/app/node_modules/x/index.js' of 4711@build-host: connect ECONNREFUSED 10.0.0.3:5432",
  )
}

/** Fails until the engine's retry policy has made `succeedsAt` runs of it. */
export async function retriedRun({ succeedsAt }: { succeedsAt: number }): Promise<number> {
  const { attempt } = workflowInfo()
  if (attempt < succeedsAt) throw ApplicationFailure.retryable(`run ${attempt} fails`, 'Flaky')
  return attempt
}

// Chains and children

/** `links` runs by continue-as-new, then the result; it takes about a second a link from the engine. */
export async function chain({
  links,
  link = 1,
}: {
  links: number
  link?: number
}): Promise<{ links: number; link: number }> {
  if (link < links) await continueAsNew<typeof chain>({ links, link: link + 1 })
  return { links, link }
}

/** Each next link has another memo than the one before. */
export async function replacesMemo({ links, link = 1 }: { links: number; link?: number }): Promise<number> {
  const next = makeContinueAsNewFunc<typeof replacesMemo>({ memo: { replaced: true } })
  if (link < links) await next({ links, link: link + 1 })
  return link
}

/**
 * Continues as a new run after the signal `next`, completes after `finish`.
 * Its update `round` returns the number of the run.
 */
export async function chainOnSignal(rounds: number): Promise<number> {
  let received: 'next' | 'finish' | null = null
  setHandler(defineUpdate<number>('round'), () => rounds)
  setHandler(next, () => {
    received ??= 'next'
  })
  setHandler(finish, () => {
    received ??= 'finish'
  })
  await condition(() => received !== null)
  if (received === 'next') await continueAsNew<typeof chainOnSignal>(rounds + 1)
  return rounds
}

/** Fails when signalled with `next`, for the engine to retry it; its query `state` answers which attempt it is. */
export async function failsOnSignal(): Promise<never> {
  let failing = false
  setHandler(state, () => workflowInfo().attempt)
  setHandler(next, () => {
    failing = true
  })
  await condition(() => failing)
  throw ApplicationFailure.retryable('signalled', 'Flaky')
}

/** Runs a child of any type in this catalog and returns what it returns. */
export async function parent({
  child,
  input,
  workflowId,
}: {
  child: string
  input: unknown
  workflowId?: string
}): Promise<unknown> {
  return executeChild(child, { args: [input], ...(workflowId !== undefined && { workflowId }) })
}

// Stopping

export async function catchesCancel(): Promise<string> {
  try {
    await condition(() => false)
    return 'never'
  } catch (error) {
    if (!isCancellation(error)) throw error
    return 'stopped, and glad of it'
  }
}

/** Cleans up for `ms`, then ends `canceled`. */
export async function cleansUp({ ms = 0 }: { ms?: number } = {}): Promise<void> {
  let stage = 'working'
  setHandler(state, () => stage)
  try {
    await condition(() => false)
  } finally {
    stage = 'cleaning up'
    await CancellationScope.nonCancellable(async () => {
      await cleanUp('everything')
      await sleep(ms)
    })
  }
}

// Messages

export const next = defineSignal('next')
export const finish = defineSignal<unknown[]>('finish')
export const add = defineSignal<unknown[]>('add')
export const state = defineQuery<unknown>('state')
export const echoQuery = defineQuery<unknown, unknown[]>('echo')
export const setUpdate = defineUpdate<unknown, [unknown]>('set')
export const validatedUpdate = defineUpdate<number, [number]>('validated')

/** Returns what `finish` was sent, as an array of its arguments. */
export async function waitForSignal(): Promise<unknown[]> {
  let received: unknown[] | undefined
  setHandler(finish, (...args: unknown[]) => {
    received = args
  })
  await condition(() => received !== undefined)
  return received ?? []
}

/**
 * A run with every kind of handler; ends at the signal `finish` with what it has gathered.
 *
 * Signals `add`, `finish`. Queries `state`, `echo`, `void`, `throws`, `throwsFailure`.
 * Updates `set`, `echo`, `void`, `wait` (milliseconds), `waitFor` (until the value was added), `validated` (rejects
 * what is not positive), `fails` (ApplicationFailure), `throws` (its workflow task fails until the run is terminated).
 */
export async function messages(): Promise<{ gathered: unknown[]; value: unknown }> {
  const gathered: unknown[] = []
  let value: unknown = null
  let finished = false
  setHandler(add, (...args) => {
    gathered.push(...args)
  })
  setHandler(finish, () => {
    finished = true
  })
  setHandler(state, () => ({ gathered, value }))
  setHandler(echoQuery, (...args) => args)
  setHandler(defineQuery<void>('void'), () => undefined)
  setHandler(defineQuery<never>('throws'), () => {
    throw new Error('the query does not want to')
  })
  setHandler(defineQuery<never>('throwsFailure'), () => {
    throw ApplicationFailure.nonRetryable('the query rejects', 'QueryRejected')
  })
  setHandler(setUpdate, (to) => {
    const before = value
    value = to
    return { before, after: to }
  })
  setHandler(defineUpdate<unknown, unknown[]>('echo'), (...args) => args)
  setHandler(defineUpdate<void>('void'), () => undefined)
  setHandler(defineUpdate<string, [number]>('wait'), async (ms) => {
    await sleep(ms)
    return 'waited'
  })
  setHandler(
    validatedUpdate,
    (number) => {
      value = number
      return number
    },
    {
      validator: (number) => {
        if (!(number > 0)) throw new Error(`${number} is not positive`)
      },
    },
  )
  setHandler(defineUpdate<never>('fails'), () => {
    throw ApplicationFailure.create({
      message: 'the update rejects',
      type: 'UpdateRejected',
      nonRetryable: true,
      details: [{ sku: '42' }, 'sold out'],
      cause: ApplicationFailure.create({ message: 'out of stock', type: 'Stock', details: [0] }),
    })
  })
  setHandler(defineUpdate<never>('throws'), () => {
    throw new Error('a bug in the update')
  })
  setHandler(defineUpdate<unknown[], [unknown]>('waitFor'), async (item) => {
    await condition(() => gathered.includes(item))
    return gathered
  })
  await condition(() => finished)
  return { gathered, value }
}

// What workers of the older generation return

/**
 * Returns `output`, undefined when absent, in the wrapper of a workflow;
 * one of its steps returns one in that of an activity.
 */
export async function olderReturns({ output, trace }: { output?: unknown; trace?: unknown }): Promise<object> {
  await echoBack({ __output_activity_wrapper_version: 1, output: 'of a step', aggregations: null })
  return { __output_workflow_wrapper_version: 1, output, trace }
}

/** A step that is retried, a timer, a signal, and a child with a step of its own. */
export async function olderBusy({ trace }: { trace: unknown }): Promise<object> {
  let isNext = false
  setHandler(next, () => {
    isNext = true
  })
  await succeedsLater()
  await sleep(10)
  await condition(() => isNext)
  await executeChild(manySteps, { args: [{ n: 1 }] })
  return { __output_workflow_wrapper_version: 1, output: 'of the run', trace }
}

/** Fails as its step does, and says in the details where the trace is. */
export async function olderFails({ trace }: { trace: unknown }): Promise<never> {
  try {
    return await rejects()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw ApplicationFailure.create({
      message: error.message,
      type: error.constructor.name,
      details: [{ trace }],
      cause: error,
    })
  }
}

// Memo

/** Says where its trace is, as a worker without the kit does; ends at once. */
export async function saysTrace({ trace }: { trace: unknown }): Promise<string> {
  upsertMemo({ trace })
  return 'said'
}
