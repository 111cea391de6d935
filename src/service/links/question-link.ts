/** What a link needs to know of the question that it answers. */
import { isObject } from '../../shared/lib/json.ts'
import { ANSWER_DIGEST } from '../../shared/wire/asks.ts'
import { MAX_CHOICES, MAX_LABEL_LENGTH, MAX_TITLE_LENGTH, shownTextIssue } from '../../shared/wire/shown-text.ts'
import { inputCheck } from '../catalog/catalogs.ts'
import type { Call } from '../model/call.ts'
import { invalidValue, ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import type { Choice, CreateLinkCommand, Link } from '../model/link.ts'
import { answerIdOf, type OpenAsk, parseAsks } from '../model/question.ts'
import type { Ports } from '../ports.ts'
import { questionAnswered, questionNotFound } from '../questions/errors.ts'
import { argumentOf, sampleComments } from './choose.ts'

type QuestionLink = Pick<Link, 'choices' | 'handler' | 'messageId' | 'rule' | 'title'>

/** Throws `QuestionNotFoundError` also for a question whose signal the caller may not send. */
export async function toQuestionLink(
  { engine }: Pick<Ports, 'engine'>,
  run: Description,
  key: string,
  { title, choices, ruleFor = () => ({ rule: null }) }: Pick<CreateLinkCommand, 'choices' | 'ruleFor' | 'title'>,
  call: Call,
): Promise<QuestionLink> {
  const { workflowId, runId } = run
  const ask = await askOf(run, key)
  const allowed = ask === null ? undefined : ruleFor(ask.signal, run.workflowName)
  if (ask === null || allowed === undefined) throw questionNotFound(run, key)
  const messageId = await answerIdOf(key)
  const search = { id: messageId, header: ANSWER_DIGEST, afterEventId: 0 }
  const { message } = await engine.findMessage({ workflowId, runId }, search, call)
  if (message !== null) throw questionAnswered({ workflowId, runId, key }, message.at)
  if (choices !== undefined) await assertContents(choices, ask)
  return {
    ...{ handler: ask.signal, rule: allowed.rule, messageId },
    title: title ?? titleOf(ask),
    choices: choices ?? choicesOf(ask),
  }
}

/** Throws `ValidationError` if the content of a choice does not match the schema of the question. */
async function assertContents(choices: readonly Choice[], { schema }: OpenAsk): Promise<void> {
  const checkInput = await inputCheck.get()
  const issues = choices.flatMap((choice, at) =>
    sampleComments(choice).flatMap(
      (comment) => checkInput(argumentOf(choice, comment) ?? {}, schema, `/choices/${at}/payload`).issues,
    ),
  )
  const [first] = issues
  if (first === undefined) return
  const message = `A choice does not match the schema of the question: ${first.path} ${first.message}`
  throw new ServiceError('ValidationError', message, { details: { issues } })
}

/** Null if the run does not ask the question, or not any more. */
export async function askOf(run: Description, key: string): Promise<OpenAsk | null> {
  return parseAsks(await run.asks?.()).get(key) ?? null
}

/**
 * Throws `ValidationError` if the choice with this comment does not match the schema of the question, and
 * `QuestionNotFoundError` if the run does not ask it any more.
 */
export async function assertAnswers(
  run: Description,
  { question = '' }: Pick<Link, 'question'>,
  choice: Choice,
  comment: string | undefined,
): Promise<void> {
  const ask = await askOf(run, question)
  if (ask === null) throw questionNotFound(run, question)
  const checkInput = await inputCheck.get()
  const { issues } = checkInput(argumentOf(choice, comment) ?? {}, ask.schema, '')
  const [first] = issues
  if (first === undefined) return
  throw new ServiceError('ValidationError', `${first.path} ${first.message}`, { details: { issues } })
}

function titleOf({ message }: OpenAsk): string {
  const issue = shownTextIssue(message, MAX_TITLE_LENGTH)
  if (issue === null) return message
  throw invalidValue('/title', `is required, because the question ${issue}`)
}

/** One for each value of the only required property. Throws `ValidationError` if that is not a boolean or an enum. */
function choicesOf({ schema: { properties, required } }: OpenAsk): Choice[] {
  const [name, ...others] = Array.isArray(required) ? required : []
  const property = isObject(properties) && typeof name === 'string' ? properties[name] : undefined
  const values = isObject(property) && others.length === 0 ? valuesOf(property) : []
  const isFitting = ([label]: [string, unknown]) => shownTextIssue(label, MAX_LABEL_LENGTH) === null
  const labels = new Set(values.map(([label]) => label))
  if (values.length > 0 && values.length <= MAX_CHOICES && labels.size === values.length && values.every(isFitting))
    return values.map(([label, value]) => ({ label, payload: { [name]: value }, comment: 'none' }))
  throw invalidValue('/choices', 'is required, because the question is not one of yes or no, or of a few values')
}

function valuesOf({ type, enum: values }: Record<string, unknown>): [label: string, value: unknown][] {
  if (Array.isArray(values))
    return values.map((value) => [typeof value === 'string' ? value : JSON.stringify(value), value])
  return type === 'boolean'
    ? [
        ['Yes', true],
        ['No', false],
      ]
    : []
}
