import type { Choice, Link, LinkAnswer, LinkDetail } from '../../model/link.ts'

/** Whether a choice takes a comment. */
export const COMMENTS = ['none', 'optional', 'required'] as const satisfies readonly Choice['comment'][]

/** What the holder of a link may know of it, as `GET /links/:token` returns it. */
export interface LinkState extends Pick<Link, 'title' | 'workflowName'> {
  /** Without payloads: they are not for the holder. */
  choices: Pick<Choice, 'comment' | 'label' | 'style'>[]
  details: LinkDetail[]
  state: 'open' | 'answered'
  answer: LinkAnswer | null
  expiresAt: Date
}

export function toLinkState(
  { title, workflowName, details = [], choices, expiresAt }: Link,
  answer: LinkAnswer | null,
): LinkState {
  return {
    title,
    workflowName,
    details,
    choices: choices.map(({ payload: _, ...choice }) => choice),
    state: answer === null ? 'open' : 'answered',
    answer,
    expiresAt: new Date(expiresAt),
  }
}
