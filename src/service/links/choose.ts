/** What a choice of a link sends. */
import { isObject } from '../../shared/lib/json.ts'
import { ANSWER_DIGEST } from '../../shared/wire/asks.ts'
import { LINK_CHOICE } from '../../shared/wire/link-choice.ts'
import { characterIssue } from '../../shared/wire/names.ts'
import type { MessageCommand } from '../model/commands.ts'
import { invalidValue } from '../model/errors.ts'
import type { Choice, Link } from '../model/link.ts'
import { answerDigestOf } from '../model/question.ts'

export const MAX_COMMENT_LENGTH = 2000

/** The message of the choice, with the comment as a property of the payload. */
export async function messageOf(
  { handler, question: key }: Pick<Link, 'handler' | 'question'>,
  choice: Choice,
  comment: string | undefined,
  argumentPointer: string,
): Promise<MessageCommand> {
  const { label } = choice
  const argument = argumentOf(choice, comment)
  if (key !== undefined) {
    const answer = { key, content: argument ?? {} }
    const headers = { [LINK_CHOICE]: label, [ANSWER_DIGEST]: await answerDigestOf(answer) }
    return { name: handler, args: [answer], argumentPointer, headers }
  }
  return {
    name: handler,
    args: argument === undefined ? [] : [argument],
    argumentPointer,
    // The history must say which choice it was, also if payloads are equal, or encrypted by a codec.
    headers: { [LINK_CHOICE]: label },
  }
}

/** The payload with the comment, if there is one. */
export function argumentOf({ payload }: Choice, comment: string | undefined): unknown {
  return comment === undefined ? payload : { ...(isObject(payload) && payload), comment }
}

// Used to check choices with a comment against a schema, which must accept any text of a person.
const SAMPLE_COMMENT = 'A comment'

/** The comments with which the choice must be checked. */
export function sampleComments({ comment }: Choice): (string | undefined)[] {
  if (comment === 'none') return [undefined]
  return comment === 'required' ? [SAMPLE_COMMENT] : [undefined, SAMPLE_COMMENT]
}

/** The choice that the person has made. Throws `ValidationError` for one that the link does not have. */
export function chosenFrom({ choices }: Pick<Link, 'choices'>, label: string): Choice {
  const choice = choices.find((one) => one.label === label)
  if (choice !== undefined) return choice
  throw invalidValue('/choice', `must be one of ${choices.map((one) => JSON.stringify(one.label)).join(', ')}`)
}

/** Undefined for a comment that is blank. Throws `ValidationError` if the choice does not allow the comment. */
export function commentFor({ label, comment: rule }: Choice, given = ''): string | undefined {
  // Browsers send every line break of a form as CR LF.
  const comment = given.replaceAll('\r\n', '\n').trim()
  const choice = JSON.stringify(label)
  if (comment === '') {
    if (rule === 'required') throw invalidValue('/comment', `is required for ${choice}`)
    return undefined
  }
  if (rule === 'none') throw invalidValue('/comment', `is not possible for ${choice}`)
  if (comment.length > MAX_COMMENT_LENGTH)
    throw invalidValue('/comment', `must have at most ${MAX_COMMENT_LENGTH} characters`)
  const issue = characterIssue(comment)
  if (issue !== null) throw invalidValue('/comment', issue)
  return comment
}
