/** Workflows that continue as a new run, are retried, or have children. */
import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineUpdate,
  executeChild,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { finish, next, state } from './messages.ts'

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
