/** Workflows in the shape of Temporal's TypeScript samples: plain Temporal, without a catalog. */

import { defineSearchAttributeKey } from '@temporalio/common'
import {
  ActivityCancellationType,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  getExternalWorkflowHandle,
  proxyActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import type * as activities from './activities.ts'

const activity = proxyActivities<typeof activities>({
  startToCloseTimeout: '20s',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '20ms', backoffCoefficient: 1 },
})

// Arguments

export async function welcome(name: string): Promise<string> {
  return activity.composeWelcome(name)
}

export async function quota({ perDay = 10 }: { perDay?: number } = {}): Promise<number> {
  return perDay
}

const approve = defineSignal<[string]>('approve')

export async function expense(claimId: string, waitMs: number): Promise<object> {
  let approvedBy: string | null = null
  setHandler(approve, (name) => {
    approvedBy = name
  })
  const record = await activity.recordClaim(claimId)
  const approved = await condition(() => approvedBy !== null, waitMs)
  return { record, state: approved ? 'paid' : 'expired', approvedBy }
}

const requested = defineSignal<[string]>('requested')
const granted = defineSignal('granted')
const released = defineSignal('released')

/** Gives a resource to one workflow after the other, and ends when none waits. */
export async function lockKeeper(resource: string): Promise<string> {
  const waiting: string[] = []
  let served = 0
  let isFree = true
  setHandler(requested, (requester) => void waiting.push(requester))
  setHandler(released, () => {
    isFree = true
  })
  while (await condition(() => waiting.length > 0, '1 second')) {
    isFree = false
    await getExternalWorkflowHandle(waiting.shift() ?? '').signal(granted)
    await condition(() => isFree)
    served++
  }
  return `${resource}: ${served} served`
}

export async function criticalSection(resource: string, workMs: number, waitMs: number): Promise<string> {
  let isMine = false
  setHandler(granted, () => {
    isMine = true
  })
  await activity.requestLock(resource)
  if (!(await condition(() => isMine, waitMs)))
    throw ApplicationFailure.nonRetryable('the lock did not come', 'LockTimeout')
  await sleep(workMs)
  await getExternalWorkflowHandle(resource).signal(released)
  return 'worked alone'
}

// Children and chains

export async function child(name: string): Promise<string> {
  return `child ${name}`
}

export async function family(...names: string[]): Promise<string[]> {
  return Promise.all(names.map((name) => executeChild(child, { args: [name] })))
}

export async function laps(total = 3, done = 0): Promise<string> {
  if (done === total) return `${done} laps`
  await sleep(1)
  return continueAsNew<typeof laps>(total, done + 1)
}

// Signals, queries, updates

const unblock = defineSignal('unblock')
const isBlocked = defineQuery<boolean>('isBlocked')

export async function gate(): Promise<string> {
  let blocked = true
  setHandler(unblock, () => {
    blocked = false
  })
  setHandler(isBlocked, () => blocked)
  await condition(() => !blocked)
  return 'unblocked'
}

const languages = defineQuery<string[], [{ all: boolean }]>('languages')
const setLanguage = defineUpdate<string, [string]>('setLanguage')
const learnLanguage = defineUpdate<string, [string]>('learnLanguage')

export async function greeter(): Promise<string> {
  const greetings = new Map([['en', 'Hello']])
  let language = 'en'
  let approvedBy: string | null = null
  setHandler(languages, ({ all }) => (all ? [...greetings.keys(), 'de', 'fr'] : [...greetings.keys()]))
  const use = (next: string) => {
    const before = language
    language = next
    return before
  }
  setHandler(setLanguage, use, {
    validator: (next) => {
      if (!greetings.has(next)) throw new Error(`${next} is not spoken here`)
    },
  })
  setHandler(learnLanguage, async (next) => {
    greetings.set(next, await activity.translate(next))
    return use(next)
  })
  setHandler(approve, (name) => {
    approvedBy = name
  })
  await condition(() => approvedBy !== null)
  return `${greetings.get(language)}, ${approvedBy}`
}

const assign = defineUpdate<string[], [{ job: string; nodes: number }]>('assign')
const shutDown = defineSignal('shutDown')

/** Its update handlers take turns, and are waited for before it ends. */
export async function cluster({ size = 3 }: { size?: number } = {}): Promise<object> {
  const jobs: Record<string, string[]> = {}
  const free = Array.from({ length: size }, (_, index) => `node-${index}`)
  let isLocked = false
  let isDown = false
  setHandler(shutDown, () => {
    isDown = true
  })
  setHandler(
    assign,
    async ({ job, nodes }) => {
      while (isLocked) await condition(() => !isLocked)
      isLocked = true
      try {
        const taken = await activity.reserveNodes(free, nodes)
        free.splice(0, taken.length)
        jobs[job] = taken
        return taken
      } finally {
        isLocked = false
      }
    },
    {
      validator: ({ nodes }) => {
        if (nodes > size) throw new Error(`${nodes} nodes are more than ${size}`)
      },
    },
  )
  await condition(() => isDown)
  await condition(allHandlersFinished)
  return { assigned: Object.keys(jobs).length, free: free.length }
}

const confirmation = defineUpdate<string>('confirmation')

/** Answers its caller before it is done. */
export async function payment(amount: number): Promise<string> {
  let isChecked = false
  setHandler(confirmation, async () => {
    await condition(() => isChecked)
    return `${amount} accepted`
  })
  await activity.recordClaim(String(amount))
  isChecked = true
  await sleep(50)
  await condition(allHandlersFinished)
  return `${amount} settled`
}

const addItem = defineUpdate<number, [string, number]>('addItem')
const checkOut = defineSignal('checkOut')

export async function cart(): Promise<object> {
  const items: Record<string, number> = {}
  let isDone = false
  setHandler(addItem, (sku, quantity) => {
    items[sku] = (items[sku] ?? 0) + quantity
    return Object.values(items).reduce((sum, each) => sum + each)
  })
  setHandler(checkOut, () => {
    isDone = true
  })
  await condition(() => isDone)
  return items
}

// Time

/** Tells the customer when cooking takes longer than `patienceMs`. */
export async function order(cookingMs: number, patienceMs: number): Promise<string[]> {
  const cooking = activity.cook(cookingMs)
  const isInTime = await Promise.race([cooking.then(() => true), sleep(patienceMs).then(() => false)])
  const notices = isInTime ? [] : [await activity.notifyCustomer()]
  return [...notices, await cooking]
}

const finish = defineSignal('finish')

export async function reminders(): Promise<string> {
  let isFinished = false
  setHandler(finish, () => {
    isFinished = true
  })
  while (!isFinished) await condition(() => isFinished, '30 days')
  return 'finished early'
}

// Activities

/** Books, and takes back what was booked when a later step fails. */
export async function trip(traveller: string): Promise<string> {
  const undo: (() => Promise<string>)[] = []
  try {
    const seat = await activity.bookSeat(traveller)
    undo.unshift(() => activity.cancelSeat(seat))
    return await activity.bookRoom(traveller)
  } catch (error) {
    for (const step of undo) await step()
    throw error
  }
}

export async function longWork(): Promise<never> {
  return activity.processForever()
}

export async function unstable(failures: number, intervalMs: number): Promise<string> {
  const { callUnstableService } = proxyActivities<typeof activities>({
    startToCloseTimeout: '20s',
    retry: { initialInterval: intervalMs, backoffCoefficient: 1 },
  })
  return callUnstableService(failures)
}

export async function frequentPolling(polls: number): Promise<string> {
  return activity.pollService(polls)
}

/** Polls once in each run of a chain. */
export async function periodicPolling(polls: number): Promise<string> {
  return executeChild(laps, { args: [polls] })
}

export async function asyncCompletion(): Promise<string> {
  return activity.completeFromOutside()
}

// Values

export async function describeDate(date: unknown): Promise<object> {
  return { isDate: date instanceof Date, is: typeof date, next: new Date(86_400_000) }
}

export async function bytes(): Promise<Uint8Array> {
  return new Uint8Array([1, 2, 250])
}

export async function repeat(text: string, times: number): Promise<string> {
  return text.repeat(times)
}

export async function tagItself(name: string, value: string): Promise<unknown> {
  const key = defineSearchAttributeKey(name, 'KEYWORD')
  upsertSearchAttributes([{ key, value }])
  return workflowInfo().typedSearchAttributes.get(key)
}

export async function brokenCode(): Promise<never> {
  throw new TypeError('the deploy is broken')
}
