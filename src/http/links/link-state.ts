import type { Choice, Link, LinkAnswer } from '../../domain/model/link.ts'

/** Whether a choice takes a comment. */
export const COMMENTS = ['none', 'optional', 'required'] as const satisfies readonly Choice['comment'][]

/** What the holder of a link may know of it, as `GET /links/:token` returns it. */
export interface LinkState extends Pick<Link, 'title' | 'workflowName'> {
  /** Without payloads: they are not for the holder. */
  choices: Pick<Choice, 'comment' | 'label'>[]
  state: 'open' | 'answered'
  answer: LinkAnswer | null
  expiresAt: Date
}

export function toLinkState({ title, workflowName, choices, expiresAt }: Link, answer: LinkAnswer | null): LinkState {
  return {
    title,
    workflowName,
    choices: choices.map(({ label, comment }) => ({ label, comment })),
    state: answer === null ? 'open' : 'answered',
    answer,
    expiresAt: new Date(expiresAt),
  }
}
