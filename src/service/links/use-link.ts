/** Reads whether a link was used, and uses it. The history of the run says which choice was recorded. */
import { LINK_CHOICE } from '../../shared/wire/link-choice.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { missingActivity } from '../control/report-activity.ts'
import { admitMessage } from '../messages/admit-message.ts'
import { untilRecorded } from '../messages/until-recorded.ts'
import { atMost, type Call, withTimeout } from '../model/call.ts'
import type { MessageCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import {
  type Choice,
  type Link,
  type LinkAnswer,
  linkMarkOf,
  messageIdOf,
  type UsedLink,
  type UseLinkCommand,
} from '../model/link.ts'
import type { Ports } from '../ports.ts'
import { questionNotFound } from '../questions/errors.ts'
import { chosenFrom, commentFor, messageOf } from './choose.ts'
import { forHolder } from './holder-errors.ts'
import { askOf, assertAnswers } from './question-link.ts'

type UseLinkPorts = Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'messageTimeoutMs' | 'now'>

/** The answer; null while the link can be used. Rejects with `WorkflowNotRunningError` if its run has ended. */
export async function readLink(
  ports: Pick<Ports, 'engine'>,
  { link }: { link: Link },
  call: Call,
): Promise<LinkAnswer | null> {
  return forHolder(async () => {
    const { answer, isOpen } = await readAnswer(ports, link, call)
    if (answer === null && !isOpen) throw ended()
    if (answer !== null || (link.activityId === undefined && link.question === undefined)) return answer
    const missing = await findMissing(ports, link, call)
    if (missing === null) return null
    const { answer: late } = await readAnswer(ports, link, call)
    if (late === null) throw missing
    return late
  })
}

/**
 * Sends the message of the choice, once for all who use the link. Rejects with `LinkUsedError` if another choice is
 * recorded. An update that its validator rejects (`UpdateFailedError`) does not use the link up.
 */
export async function useLink(ports: UseLinkPorts, command: UseLinkCommand, call: Call): Promise<UsedLink> {
  const { link, choice: label, comment } = command
  const choice = chosenFrom(link, label)
  const given = commentFor(choice, comment)
  const message = await messageOf(link, choice, given, '')
  return forHolder(async () => {
    const before = await answerBefore(ports, link, { choice, comment: given }, call)
    if (before !== null) assertSame(before, label)
    if (link.kind === 'update') return sendUpdate(ports, link, { label, before }, message, call)
    if (before === null && link.kind === 'complete') await complete(ports, link, label, message, call)
    else if (before === null) await sendSignal(ports, link, message, call)
    return assertSame(before ?? (await untilAnswered(ports, link, call)), label)
  })
}

/** The answer that is recorded; null if this one can be sent. */
async function answerBefore(
  ports: Pick<Ports, 'engine'>,
  link: Link,
  { choice, comment }: { choice: Choice; comment: string | undefined },
  call: Call,
): Promise<LinkAnswer | null> {
  // Read before the history, which then has the answer to a question that is not open any more.
  const asking = link.question === undefined ? null : await ports.engine.describe(runOf(link), call)
  const { answer, isOpen } = await readAnswer(ports, link, call)
  if (answer !== null) return answer
  if (!isOpen) throw ended()
  if (asking !== null) await assertAnswers(asking, link, choice, comment)
  return null
}

async function readAnswer(
  { engine }: Pick<Ports, 'engine'>,
  link: Link,
  call: Call,
): Promise<{ answer: LinkAnswer | null; isOpen: boolean }> {
  const search = { id: messageIdOf(link), header: LINK_CHOICE, afterEventId: link.afterEventId }
  const { message, isOpen } = await engine.findMessage(runOf(link), search, call)
  if (message === null) return { answer: null, isOpen }
  const { header, at } = message
  const label = link.kind === 'complete' ? link.choices[Number(header)]?.label : header
  return { answer: { label: typeof label === 'string' ? label : 'another answer', at }, isOpen }
}

/** Why the activity or the question of the link can have no answer any more; null if it can. */
async function findMissing({ engine }: Pick<Ports, 'engine'>, link: Link, call: Call): Promise<ServiceError | null> {
  const { activityId, question } = link
  const run = await engine.describe(runOf(link), call)
  if (activityId !== undefined && !run.openActivity?.(activityId)) return missingActivity(run, activityId, null)
  if (question !== undefined && (await askOf(run, question)) === null) return questionNotFound(run, question)
  return null
}

/** The engine completes an activity once. If another answer was first, its event may not be in the history yet. */
async function complete(
  ports: UseLinkPorts,
  link: Link,
  label: string,
  { args }: MessageCommand,
  call: Call,
): Promise<void> {
  const activity = { ...runOf(link), activityId: link.activityId ?? '' }
  try {
    await ports.engine.reportActivity(activity, { kind: 'complete', values: args }, linkMarkOf(link, label), call)
  } catch (error) {
    if (!hasErrorName(error, 'ActivityNotFoundError')) throw error
    const readCall = atMost(call, TIMEOUT_MS.describe)
    await untilAnswered(ports, link, readCall).catch(() => {
      throw error
    })
  }
}

async function sendSignal(ports: UseLinkPorts, link: Link, message: MessageCommand, call: Call): Promise<void> {
  await admitMessage(ports, { kind: 'signal', ref: runOf(link), message }, call)
  await ports.engine.signal(runOf(link), { ...message, requestId: messageIdOf(link) }, call)
}

async function sendUpdate(
  ports: UseLinkPorts,
  link: Link,
  { label, before }: { label: string; before: LinkAnswer | null },
  message: MessageCommand,
  call: Call,
): Promise<UsedLink> {
  const messageCall = withTimeout(call, ports.messageTimeoutMs)
  const readCall = () => withTimeout(call, TIMEOUT_MS.describe)
  if (before === null) await admitMessage(ports, { kind: 'update', ref: runOf(link), message }, messageCall)
  try {
    const result = await ports.engine.update(runOf(link), message, messageIdOf(link), messageCall)
    return { ...assertSame(await untilAnswered(ports, link, readCall()), label), result }
  } catch (error) {
    // The answer is recorded; its result is not known yet.
    if (before !== null && hasErrorName(error, 'DeadlineExceededError', 'WorkflowNotReadyError'))
      return assertSame(before, label)
    if (!hasErrorName(error, 'UpdateFailedError')) throw error
    // An answer is recorded if the handler failed, perhaps for another choice; not if a validator rejected the update.
    const { answer } = await readAnswer(ports, link, readCall())
    if (answer === null) throw error
    const { recorded, at } = assertSame(answer, label)
    const details = { ...error.details, recorded, ...(at !== null && { at: at.toISOString() }) }
    throw new ServiceError('UpdateFailedError', error.message, { cause: error, details })
  }
}

function untilAnswered(ports: Pick<Ports, 'engine'>, link: Link, call: Call): Promise<LinkAnswer> {
  return untilRecorded(async () => (await readAnswer(ports, link, call)).answer, call, unrecorded)
}

/** Throws `LinkUsedError` for the answer of somebody else. */
function assertSame({ label, at }: LinkAnswer, chosen: string): UsedLink {
  if (label === chosen) return { recorded: label, at }
  const time = at === null ? '' : ` at ${at.toISOString()}`
  throw new ServiceError('LinkUsedError', `This link was used before: ${JSON.stringify(label)} was recorded${time}`, {
    details: { recorded: label, ...(at !== null && { at: at.toISOString() }) },
  })
}

function runOf({ workflowId, runId }: Link): RunRef {
  return { workflowId, runId }
}

function ended(): ServiceError {
  return new ServiceError('WorkflowNotRunningError', 'The workflow has ended')
}

function unrecorded(): ServiceError {
  return new ServiceError(
    'DeadlineExceededError',
    'An answer was delivered, but the workflow is busy. Open the link again to see which answer was recorded',
  )
}
