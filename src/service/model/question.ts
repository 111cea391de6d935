/** What runs ask people: docs/protocol.md#questions-to-people. */

import { sha256 } from '../../shared/lib/digest.ts'
import { canonicalJson, isObject } from '../../shared/lib/json.ts'
import { toRfc3339 } from '../../shared/lib/rfc3339.ts'
import type { Answer, Ask } from '../../shared/wire/asks.ts'
import { handlerNameIssue } from '../../shared/wire/names.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Call } from './call.ts'
import type { May } from './commands.ts'
import type { OnRun } from './execution.ts'
import type { RunFilter } from './run-filter.ts'

/** A question that is open, as its memo has it. */
export interface OpenAsk extends Pick<Ask, 'message' | 'schema' | 'signal'> {
  to: readonly string[] | null
  askedAt: Date | null
  due: Date | null
}

/** A question that is open, with its run. */
export interface Question extends RunRef, OpenAsk {
  workflowName: string
  catalog: string
  key: string
  /** Whether the caller may send the signal that takes the answer. */
  mayAnswer: boolean
}

/** The questions in a memo, by key. Leaves out what is not one. */
export function parseAsks(memo: unknown): ReadonlyMap<string, OpenAsk> {
  if (!isObject(memo)) return new Map()
  return new Map(
    Object.entries(memo).flatMap(([key, ask]) => {
      if (!isObject(ask)) return []
      const { signal, message, schema } = ask
      if (typeof signal !== 'string' || handlerNameIssue(signal) !== null || typeof message !== 'string') return []
      const times = { askedAt: timeOf(ask.askedAt), due: timeOf(ask.due) }
      const form = isObject(schema) ? schema : ANY_FORM
      return [[key, { signal, message, schema: form, to: namesOf(ask.to), ...times }] as const]
    }),
  )
}

function namesOf(to: unknown): string[] | null {
  return Array.isArray(to) && to.every((name) => typeof name === 'string') ? to : null
}

function timeOf(value: unknown): Date | null {
  const time = typeof value === 'string' ? toRfc3339(value) : null
  return time === null ? null : new Date(time)
}

const ANY_FORM: Ask['schema'] = { type: 'object', properties: {} }

/** Lists questions of open runs. */
export interface ListQuestionsCommand {
  filter: RunFilter
  /** Only questions for one of these. Empty: all. */
  to: readonly string[]
  /** How many runs to read. */
  pageSize: number
  pageToken: string | null
  /** Default: the caller may do everything. */
  may?: May
}

export interface QuestionPage {
  questions: Question[]
  /** Null after the last page. */
  nextPageToken: string | null
}

export interface ReadQuestionsCommand extends OnRun {
  may?: May
}

export interface RunQuestions extends RunRef {
  questions: Question[]
}

/** Answers a question of a run. */
export interface AnswerCommand extends OnRun, Answer {
  /** JSON Pointer to the object with the `content` in the request, for issues. */
  pointer: string
  /** Default: the caller may send any signal. */
  admit?: AdmitSignal
}

/** The call with which the caller may send the signal to the run. Throws `ForbiddenError` if it may not. */
export type AdmitSignal = (signal: string, run: { workflowId: string; workflowName: string }) => Call

export interface Answered extends RunRef {
  key: string
  /** When the answer was recorded, by this request or an earlier one. */
  at: Date | null
}

/** A run receives one answer with this id for each question, whoever sends it. */
export async function answerIdOf(key: string): Promise<string> {
  return `answer-${(await sha256(key)).slice(0, 32)}`
}

/** The same for equal answers. The history has it beside the content, which may be encrypted. */
export async function answerDigestOf({ key, content }: Answer): Promise<string> {
  return sha256(`${key}\n${canonicalJson(content)}`)
}
