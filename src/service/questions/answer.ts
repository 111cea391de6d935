/** Answers a question of a run. The history of the run says which answer was the first. */
import { ANSWER_DIGEST } from '../../shared/wire/asks.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { inputCheck } from '../catalog/catalogs.ts'
import { rejectCatalog, rejectOlderCatalog } from '../control/catalog-guard.ts'
import { notRunning } from '../control/control.ts'
import { admitMessage } from '../messages/admit-message.ts'
import { lastEventBefore, untilRecorded } from '../messages/until-recorded.ts'
import type { Call } from '../model/call.ts'
import type { MessageCommand } from '../model/commands.ts'
import { hasErrorName, type Issue, ServiceError } from '../model/errors.ts'
import type { FoundMessage } from '../model/link.ts'
import { type AnswerCommand, type Answered, answerDigestOf, answerIdOf, parseAsks } from '../model/question.ts'
import type { Ports } from '../ports.ts'
import { questionAnswered, questionNotFound } from './errors.ts'

type AnswerPorts = Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'now'>

/**
 * Sends the answer once for all callers. Rejects with `QuestionAnsweredError` if another answer is recorded, with
 * `QuestionNotFoundError` if the run has no such question, and with `ValidationError` if the content does not match the
 * schema of the question.
 */
export async function answer(ports: AnswerPorts, command: AnswerCommand, given: Call): Promise<Answered> {
  const { ref, key, content, pointer, admit = () => given } = command
  rejectOlderCatalog(ports, ref)
  const run = await ports.engine.describe(ref, given)
  rejectCatalog(run)
  given.audit({ runId: run.runId, workflowName: run.workflowName })
  const ask = parseAsks(await run.asks?.()).get(key)
  const [requestId, digest] = await Promise.all([answerIdOf(key), answerDigestOf({ key, content })])
  const runRef = { workflowId: run.workflowId, runId: run.runId }
  const own = { ...runRef, key, digest }
  const search = { id: requestId, header: ANSWER_DIGEST, afterEventId: 0 }
  const { message: before, isOpen } = await ports.engine.findMessage(runRef, search, given)
  const signal = before?.name ?? ask?.signal
  if (signal === undefined) throw isOpen ? questionNotFound(runRef, key) : notRunning(run)
  const call = admit(signal, run)
  if (before !== null) return assertSame(own, before)
  if (ask === undefined || !isOpen) throw notRunning(run)
  const checkInput = await inputCheck.get()
  assertMatches(runRef, checkInput(content, ask.schema, `${pointer}/content`).issues)
  const message = { name: signal, args: [{ key, content }], argumentPointer: pointer }
  const later = { ...search, afterEventId: lastEventBefore(run) }
  const find = async () => (await ports.engine.findMessage(runRef, later, call)).message
  await send(ports, runRef, { ...message, headers: { [ANSWER_DIGEST]: digest } }, requestId, call).catch(
    async (error) => {
      // The run may have ended because of an answer.
      if (!hasErrorName(error, 'WorkflowNotRunningError') || (await find()) === null) throw error
    },
  )
  return assertSame(own, await untilRecorded(find, call, () => unrecorded(runRef)))
}

async function send(
  ports: AnswerPorts,
  ref: RunRef,
  message: MessageCommand,
  requestId: string,
  call: Call,
): Promise<void> {
  await admitMessage(ports, { kind: 'signal', ref, message }, call)
  await ports.engine.signal(ref, { ...message, requestId }, call)
}

interface OwnAnswer extends RunRef {
  key: string
  digest: string
}

/** Throws `QuestionAnsweredError` if somebody else's answer was recorded. */
function assertSame(
  { digest, ...answered }: OwnAnswer,
  { header, at }: NonNullable<FoundMessage['message']>,
): Answered {
  if (header === digest) return { ...answered, at }
  throw questionAnswered(answered, at)
}

function assertMatches({ workflowId, runId }: RunRef, issues: Issue[]): void {
  const [first] = issues
  if (first === undefined) return
  const message = `The answer does not match the schema of the question: ${first.path} ${first.message}`
  throw new ServiceError('ValidationError', message, { details: { workflowId, runId, issues } })
}

function unrecorded({ workflowId, runId }: RunRef): ServiceError {
  const message = `The answer was delivered, but workflow ${workflowId} is busy and has not recorded it yet. Send the same answer again to see which one was recorded`
  return new ServiceError('DeadlineExceededError', message, { details: { workflowId, runId } })
}
