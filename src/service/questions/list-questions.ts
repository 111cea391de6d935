/** The open questions of one run, and of all runs that match a filter. */

import type { Call } from '../model/call.ts'
import type { May } from '../model/commands.ts'
import { rejectReserved } from '../model/execution.ts'
import { enginePage } from '../model/page-token.ts'
import {
  type ListQuestionsCommand,
  parseAsks,
  type Question,
  type QuestionPage,
  type ReadQuestionsCommand,
  type RunQuestions,
} from '../model/question.ts'
import type { AskingRun } from '../model/run-filter.ts'
import type { Ports } from '../ports.ts'

const mayDoAll: May = () => true

/** One page: those of the runs that the caller may read. The run that started last comes first. */
export async function listQuestions(
  { engine, catalogs, searchAttributes }: Pick<Ports, 'catalogs' | 'engine' | 'searchAttributes'>,
  { filter, to, may = mayDoAll, ...page }: ListQuestionsCommand,
  call: Call,
): Promise<QuestionPage> {
  const isWanted = (question: Question) => to.length === 0 || to.some((name) => question.to?.includes(name))
  return enginePage({ namespace: catalogs.namespace, questions: filter, to }, page, async (from) => {
    const typed = await searchAttributes.resolve({ ...filter, open: true }, call)
    const { runs, nextToken } = await engine.listAsking(typed, from, call)
    const readable = runs.filter(({ workflowId, workflowName }) => may({ verb: 'read', workflowId, workflowName }))
    return { questions: readable.flatMap((run) => questionsOf(run, may)).filter(isWanted), nextToken }
  })
}

/** Those of one run, none if it is closed. */
export async function readQuestions(
  { engine }: Pick<Ports, 'engine'>,
  { ref, may = mayDoAll }: ReadQuestionsCommand,
  call: Call,
): Promise<RunQuestions> {
  const run = await engine.describe(ref, call)
  rejectReserved(run)
  const { workflowId, runId } = run
  return { workflowId, runId, questions: questionsOf({ ...run, asks: await run.asks?.() }, may) }
}

function questionsOf({ workflowId, runId, workflowName, catalog, asks }: AskingRun, may: May): Question[] {
  return [...parseAsks(asks)].map(([key, ask]) => ({
    ...{ workflowId, runId, workflowName, catalog, key },
    ...ask,
    mayAnswer: may({ verb: 'signal', handler: ask.signal, workflowId, workflowName }),
  }))
}
