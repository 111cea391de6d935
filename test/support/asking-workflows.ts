/** Workflows that ask people, and those of `workflows.ts` that a task can be. */
import { continueAsNew } from '@temporalio/workflow'
import { ask } from '../../src/worker/ask.ts'

export { chain, chainOnSignal, cleansUp, failRetryable, waitForSignal } from './workflows.ts'

const APPROVAL = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, comment: { type: 'string' } },
  required: ['approved'],
}

/** Asks once, and returns the answer. */
export async function asksOnce(): Promise<unknown> {
  return ask({ message: 'Approve the order?', schema: APPROVAL })
}

/** Asks two questions at the same time, then a third one in the next run of its chain. */
export async function asksInTurns(answers?: unknown[]): Promise<unknown> {
  if (answers !== undefined) return [...answers, await ask({ message: 'third?', schema: APPROVAL, signal: 'decide' })]
  const both = ['first?', 'second?'].map((message) => ask({ message, schema: APPROVAL }))
  return continueAsNew<typeof asksInTurns>(await Promise.all(both))
}

/** Asks one question of a team, and one of anybody, both listed in the search attribute. */
export async function asksListed(team: string): Promise<unknown> {
  const listed = { schema: APPROVAL, searchAttribute: 'OptionKeywordList' }
  const due = new Date('2027-01-01T00:00:00Z')
  return Promise.all([ask({ ...listed, message: 'first?', to: [team], due }), ask({ ...listed, message: 'second?' })])
}
