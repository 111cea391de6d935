/** The workflows of `service-with-waiters.ts`. */
import { condition, defineSignal, setHandler } from '@temporalio/workflow'

const finish = defineSignal<unknown[]>('finish')

export async function echo(input: unknown): Promise<unknown> {
  return input
}

/** Completes on the signal `finish`, with the signal's arguments as an array. */
export async function waitForSignal(): Promise<unknown[]> {
  let received: unknown[] | undefined
  setHandler(finish, (...args) => {
    received = args
  })
  await condition(() => received !== undefined)
  return received ?? []
}
