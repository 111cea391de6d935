/** Workflows with handlers of signals, queries and updates. */
import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  sleep,
} from '@temporalio/workflow'

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

/** Returns whether the signal `finish` came within an hour. */
export async function finishesInTime(): Promise<boolean> {
  let finished = false
  setHandler(finish, () => {
    finished = true
  })
  return condition(() => finished, '1h')
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
