/** Workflows whose histories show which operations have reached them: all that they receive has a marker. */
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow'
import type * as activities from './activities.ts'

const { step } = proxyActivities<typeof activities>({ startToCloseTimeout: '20s' })

export interface Marked {
  marker: string
}

export interface LedgerInput extends Marked {
  /** After so many messages it continues as new. */
  perRun?: number
  applied?: string[]
}

export const apply = defineSignal<[string]>('apply')
export const finish = defineSignal<[string]>('finish')
export const set = defineUpdate<{ marker: string; position: number }, [string]>('set')
export const setSlowly = defineUpdate<{ marker: string; position: number }, [string]>('setSlowly')
export const state = defineQuery<{ applied: string[] }>('state')

/** A validator rejects updates that begin with this. */
export const REJECTED = 'reject-'

/** Gathers the markers of its messages, over all runs of its chain, until `finish`. */
export async function ledger({ marker, perRun = Number.POSITIVE_INFINITY, applied = [] }: LedgerInput) {
  let messages = 0
  let isFinished = false
  const take = (message: string) => {
    messages++
    applied.push(message)
    return { marker: message, position: applied.length }
  }
  const validator = (message: string) => {
    if (message.startsWith(REJECTED)) throw ApplicationFailure.nonRetryable('rejected by the validator')
  }
  setHandler(state, () => ({ applied }))
  setHandler(apply, (message) => void take(message))
  setHandler(finish, (message) => {
    take(message)
    isFinished = true
  })
  setHandler(set, take, { validator })
  setHandler(setSlowly, async (message) => {
    await sleep(300)
    return take(message)
  })
  await condition(() => (isFinished || messages >= perRun) && allHandlersFinished())
  if (!isFinished) await continueAsNew<typeof ledger>({ marker, perRun, applied })
  return { marker, applied }
}

/** Runs `links` more times, as one chain. */
export async function chain({ marker, links }: Marked & { links: number }): Promise<Marked & { links: number }> {
  await sleep(100)
  if (links > 0) await continueAsNew<typeof chain>({ marker, links: links - 1 })
  return { marker, links }
}

export async function echo(input: Marked): Promise<Marked> {
  return input
}

export async function fails({ marker }: Marked): Promise<never> {
  throw ApplicationFailure.nonRetryable(`failed as ${marker} asked`)
}

/** Can be reset to its steps. */
export async function steps({ marker, count }: Marked & { count: number }): Promise<Marked & { count: number }> {
  for (let number = 0; number < count; number++) await step(number)
  return { marker, count }
}

/** Only every other version of the catalog has it. */
export async function seasonal(input: Marked): Promise<Marked> {
  return input
}
