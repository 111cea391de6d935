/** One-use links, with which people without a credential answer a run: docs/links.md. */
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Caller } from './caller.ts'

export interface Choice {
  /** Unique in the link. */
  label: string
  /** The handler's only argument; without it there is none. An object if the choice takes a comment. */
  payload?: unknown
  comment: 'none' | 'optional' | 'required'
}

/** What is sealed in the token of a link. It never changes: a link that is used changes only the history of its run. */
export interface Link extends RunRef {
  linkId: string
  namespace: string
  workflowName: string
  kind: 'signal' | 'update'
  /** Name of the handler. */
  handler: string
  title: string
  choices: Choice[]
  /** Epoch milliseconds. */
  expiresAt: number
  /** The answer has a higher event id, so that no reader needs the history before it. */
  afterEventId: number
  /** Id of the caller who created it; null where no credential was required. */
  creator: string | null
  /** The rule of the policy that allowed it; null for operators. */
  rule: string | null
}

/** The choice that the history of the run has recorded. */
export interface LinkAnswer {
  label: string
  at: Date | null
}

/** The one who uses the link. Its right is the seal of the link, so no rule restricts it. */
export function holderOf({ linkId, creator }: Link): Caller {
  const id = creator === null ? `link:${linkId}` : `link:${linkId} by ${creator}`
  return { id, grants: null, limits: null }
}

/** A run receives one message for each id. */
export function messageIdOf({ linkId }: Link): string {
  return `link-${linkId}`
}
