/** Activities of `workflows.ts`. */
import {
  ApplicationFailure,
  activityInfo,
  CancelledFailure,
  CompleteAsyncError,
  Context,
  getClient,
  heartbeat,
} from '@temporalio/activity'

export async function composeWelcome(name: string): Promise<string> {
  return `Welcome, ${name}.`
}

export async function recordClaim(claimId: string): Promise<string> {
  return `claim ${claimId} recorded`
}

/** Sends the lock's keeper a request, and starts it first if it is not running. */
export async function requestLock(resource: string): Promise<void> {
  const { taskQueue, workflowExecution } = activityInfo()
  await getClient().workflow.signalWithStart('lockKeeper', {
    workflowId: resource,
    taskQueue,
    args: [resource],
    signal: 'requested',
    signalArgs: [workflowExecution?.workflowId ?? ''],
  })
}

export async function translate(language: string): Promise<string> {
  const greetings = new Map([
    ['de', 'Hallo'],
    ['fr', 'Salut'],
  ])
  const greeting = greetings.get(language)
  if (greeting === undefined) throw ApplicationFailure.nonRetryable(`no greeting in ${language}`, 'UnknownLanguage')
  return greeting
}

export async function reserveNodes(free: string[], count: number): Promise<string[]> {
  return free.slice(0, count)
}

export async function cook(ms: number): Promise<string> {
  await Context.current().sleep(ms)
  return 'cooked'
}

export async function notifyCustomer(): Promise<string> {
  return 'customer notified'
}

export async function bookSeat(traveller: string): Promise<string> {
  return `seat of ${traveller}`
}

export async function bookRoom(_traveller: string): Promise<string> {
  throw ApplicationFailure.nonRetryable('the hotel is full', 'HotelFull')
}

export async function cancelSeat(seat: string): Promise<string> {
  return `${seat} given back`
}

/** Reports its progress until it is canceled. */
export async function processForever(): Promise<never> {
  for (let percent = 0; ; percent++) {
    heartbeat(percent)
    await Context.current().sleep(50)
  }
}

/** Fails the first `failures` times. */
export async function callUnstableService(failures: number): Promise<string> {
  const { attempt } = activityInfo()
  if (attempt <= failures) throw new RangeError(`the service rejected attempt ${attempt}`)
  return `answered attempt ${attempt}`
}

/** Polls inside one attempt, with a heartbeat per poll. */
export async function pollService(polls: number): Promise<string> {
  for (let poll = 1; poll <= polls; poll++) {
    heartbeat(poll)
    try {
      await Context.current().sleep(10)
    } catch (error) {
      if (error instanceof CancelledFailure) return 'canceled'
      throw error
    }
  }
  return `ready after ${polls} polls`
}

/** Ends without a value: the value comes from outside, by the task token. */
export async function completeFromOutside(): Promise<string> {
  const { taskToken } = activityInfo()
  const { activity } = getClient()
  setImmediate(() => void activity.complete(taskToken, 'completed from outside').catch(() => {}))
  throw new CompleteAsyncError()
}
